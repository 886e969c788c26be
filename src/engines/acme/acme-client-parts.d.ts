/** The parts of acme-client that are imported separately: its types cover the whole. */
declare module "acme-client/src/client.js" {
  export { Client as default } from "acme-client";
}

declare module "acme-client/src/crypto/index.js" {
  export { crypto as default } from "acme-client";
}
