-- Requests for wrk, told by environment variables: {row} and {number} are filled in anew for each.
local rows = tonumber(os.getenv("BENCH_ROWS"))
local stride = tonumber(os.getenv("BENCH_STRIDE"))
local run = os.getenv("BENCH_RUN")
local number = 0
local varies, fixed, path, body

function init()
  wrk.method = os.getenv("BENCH_METHOD")
  body = os.getenv("BENCH_BODY")
  path = wrk.path:gsub("%%7B", "{"):gsub("%%7D", "}")
  if body == "" then body = nil end
  wrk.body = body
  varies = (path .. (body or "")):find("{%a+}")
  if not varies then fixed = wrk.format() end
end

local function filled(text)
  local row = string.format("%d", number % rows * stride + 1)
  return (text:gsub("{row}", row):gsub("{number}", run .. string.format("%07d", number)))
end

function request()
  if not varies then return fixed end
  number = number + 1
  return wrk.format(nil, filled(path), nil, body and filled(body))
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    '{"requests":%d,"perSecond":%.1f,"p50Ms":%.3f,"p99Ms":%.3f,"errors":%d}\n',
    summary.requests, summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000,
    latency:percentile(99) / 1000, e.connect + e.read + e.write + e.status + e.timeout))
end
