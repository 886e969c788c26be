/** nginx in front of several instances, on a free port of loopback: no visitor is bound to an instance. */
import { findFreePort } from "./free-port.ts";
import { type RunningProxy, runNginx } from "./nginx.ts";

export async function startClusterProxy(hosts: readonly string[]): Promise<RunningProxy> {
  const port = findFreePort();
  const servers = hosts.map((host) => `server ${host} max_fails=1 fail_timeout=1s;`);
  return await runNginx(
    `http://127.0.0.1:${port}`,
    `upstream companiond { zone companiond 64k; least_conn; ${servers.join(" ")} }
    server {
      listen 127.0.0.1:${port};
      client_max_body_size 24m;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      # Visitors of tests choose their address.
      proxy_set_header X-Forwarded-For $http_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_buffering off;
      proxy_connect_timeout 1s;
      # What an instance may have begun is never sent again: a message would be answered twice.
      proxy_next_upstream error;
      location / { proxy_pass http://companiond; }
    }`,
  );
}
