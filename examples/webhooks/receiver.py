"""Receives companiond's events: checks each signature, skips events that it has seen, and prints what has happened."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE_SECONDS = 5 * 60
MAX_BYTES = 2 * 1024 * 1024

# Keep these in your database, in the same transaction as what you do about the event, so that nothing is done twice.
seen = set()


def is_signed(headers, body):
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected.encode(), given.encode()) for given in signatures)


class Receiver(BaseHTTPRequestHandler):
    timeout = 15

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > MAX_BYTES:
            return self.answer(413)
        # Exactly as it arrived: if it were parsed and serialized again, the signature would not match.
        body = self.rfile.read(int(length))
        if not is_signed(self.headers, body):
            return self.answer(401)
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            event = json.loads(body)
            data = event["data"]
            print(event["type"], data.get("conversation_id") or data.get("companion_id") or "", flush=True)
        # If your work may take longer than 15 seconds, confirm first.
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    server.serve_forever()
