#!/bin/sh
# Requests per second of `affiliated serve` with 1, 2 and 4 processes, on a database that has data (`affiliated demo`).
# Needs wrk. Usage: bench/throughput.sh DATABASE_URL [more flags of serve]
set -eu
cd "$(dirname "$0")/.."
database=$1
shift
node=node_modules/.bin/node
login="bench$$"
$node bin/affiliated.js users create --login $login --email $login@example.com --database "$database" >/dev/null
token=$($node bin/affiliated.js keys create --name bench --user $login --database "$database" | sed -n 's/^token *//p')
for workers in 1 2 4; do
  $node bin/affiliated.js serve --port 8192 --workers $workers --log-level error --database "$database" "$@" >/dev/null &
  server=$!
  until wget -qO /dev/null http://127.0.0.1:8192/readyz; do sleep 0.2; done
  measure() {
    wrk -c32 -t1 -d5s -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@" |
      awk -v what="$name" -v workers=$workers '/Requests\/sec/ { rate = $2 } /Non-2xx/ { bad = ", " $0 } END { print "| " workers " | " what " | " rate bad " |" }'
  }
  name='get one' measure http://127.0.0.1:8192/v1/affiliates/500
  name='list 20' measure http://127.0.0.1:8192/v1/affiliates
  name='create' measure -s bench/create.lua http://127.0.0.1:8192/v1/affiliates
  kill $server
  wait $server || true
done
