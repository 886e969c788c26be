/** The part of s3rver that tests use; it has no types of its own. */
declare module "s3rver" {
  import type { Server } from "node:http";
  import type { AddressInfo } from "node:net";

  export default class S3rver {
    constructor(options: {
      address: string;
      port: number;
      silent: boolean;
      directory: string;
      vhostBuckets: boolean;
      configureBuckets: { name: string }[];
    });
    readonly httpServer: Server;
    readonly store: {
      getResourcePath(bucket: string, key: string, resource: "object"): string;
      putObject(object: { bucket: string; key: string }): Promise<{ size: number; md5: string }>;
    };
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}
