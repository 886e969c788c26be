#!/bin/sh
# Brings an environment to what the files have: ./deploy.sh staging|production [options of "companiond apply"]
set -eu
cd "$(dirname "$0")"
environment=$1
shift
. "./environments/$environment.env"
exec companiond apply -f companions/ --set shop --url "$URL" --api-key-file "$KEY_FILE" "$@"
