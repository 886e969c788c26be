/** Sign-in forms whose first response may be that a code is needed as well. */
import { useState } from "preact/hooks";
import { ApiError } from "../lib/api.ts";
import { useAction } from "../lib/load.ts";

export interface SecondStep {
  /** Null until the server has required it. */
  code: string | null;
  setCode(code: string): void;
  /** Back to the first step. */
  restart(): void;
  run(): Promise<void>;
  isBusy: boolean;
  /** The error of the form as a whole. */
  error: unknown;
  codeError: string | undefined;
}

/** `send` with the code, once there is one. */
export function useSecondStep(send: (totp: { totp?: string }) => Promise<void>): SecondStep {
  const [code, setCode] = useState<string | null>(null);
  const { run, isBusy, error, clear } = useAction(async () => {
    try {
      await send(code === null ? {} : { totp: code });
    } catch (failure) {
      const isAsked = failure instanceof ApiError && failure.code === "totp_required";
      if (!isAsked || code !== null) throw failure;
      setCode("");
    }
  });
  const isWrongCode = error instanceof ApiError && error.code === "totp_required";
  return {
    code,
    setCode,
    restart() {
      clear();
      setCode(null);
    },
    run,
    isBusy,
    error: isWrongCode ? null : error,
    codeError: isWrongCode ? error.message : undefined,
  };
}
