/** Sends a form with a file, and tells how much of it has been sent: `fetch` cannot. */
import { toFailure } from "./api.ts";

interface UploadOptions {
  /** From 0 to 1. */
  onProgress?(share: number): void;
}

/** Resolves with the response's JSON; rejects with `ApiError`. */
export function upload<Result>(
  method: "POST" | "PUT",
  path: string,
  form: FormData,
  { onProgress }: UploadOptions = {},
): Promise<Result> {
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    request.open(method, path);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => onProgress?.(total > 0 ? loaded / total : 0);
    request.onerror = () => reject(toFailure(path, 0, null));
    request.onload = () => {
      const { status, response } = request;
      if (status >= 200 && status < 300) resolve(response as Result);
      else reject(toFailure(path, status, response));
    };
    request.send(form);
  });
}
