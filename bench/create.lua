-- wrk script: each request creates an affiliate with an account of its own.
local thread = 0
function setup(t) t:set("thread", thread); thread = thread + 1 end
function init() number = 0; start = os.time() end
function request()
  number = number + 1
  local email = string.format("bench.%d.%d.%d@example.com", start, thread, number)
  return wrk.format("POST", nil, nil, '{"create_user":true,"payment_email":"' .. email .. '"}')
end
