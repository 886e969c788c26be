/** Images for tests of uploads. */
import { crc32, deflateSync } from "node:zlib";

function chunk(type: string, data: Uint8Array): Buffer {
  const framed = Buffer.alloc(12 + data.length);
  framed.writeUInt32BE(data.length, 0);
  framed.write(type, 4, "latin1");
  framed.set(data, 8);
  framed.writeUInt32BE(crc32(framed.subarray(4, 8 + data.length)), 8 + data.length);
  return framed;
}

/** A black PNG. With `rows` it holds only so many of its rows. */
export function makePng(width: number, height: number, rows = height): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const body = deflateSync(Buffer.alloc((width * 3 + 1) * rows));
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return new Uint8Array(
    Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", body), chunk("IEND", Buffer.alloc(0))]),
  );
}

export const imageOf = (bytes: Uint8Array<ArrayBuffer> | string, type = "image/png"): Blob =>
  new Blob([bytes], { type });
