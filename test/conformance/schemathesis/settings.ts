import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Home } from './home.ts'

/** Writes schemathesis.toml, and for owners the file of their tokens (Web Fuzzing Commons). */
export async function writeSettings(folder: string, home: Home, as: 'anybody' | 'owners'): Promise<string> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, 'schemathesis.toml')
  await writeFile(path, as === 'owners' ? `${settings}${peers(home)}` : settings)
  if (as === 'owners') await writeFile(join(folder, 'wfc.json'), tokens(home), { mode: 0o600 })
  return path
}

const tokens = (home: Home) =>
  JSON.stringify({
    schema_version: '0.1.0',
    auth: Object.entries(home.tokens).map(([name, token]) => ({
      name,
      fixedHeaders: [{ name: 'Authorization', value: `Bearer ${token}` }],
    })),
  })

const peers = (home: Home) => `
[auth.wfc]
path = "wfc.json"
peers = ${JSON.stringify(Object.keys(home.tokens))}
`

/** Every check is on everywhere. What is said here is which refusals count as such. */
const settings = `
[generation]
max-examples = 8
# Longer here, as what matters is which steps follow each other: publish, go live, change, delete.
[phases.stateful]
generation.max-examples = 30

# A valid request whose If-Match fails is refused with 412 (RFC 9110 section 13.2), an invalid one may be too.
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 401, 403, 404, 409, 412, 429, "5xx"]
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 415, 422, 428, 429]

# The protocols have suites of their own, and the metadata and the operator's pages take no input.
[[operations]]
include-tag = ["Authorization", "Operations"]
enabled = false
[[operations]]
include-operation-id = ["callJsonRpc", "callA2A", "callMcp", "callAgentMcp"]
enabled = false

# The envelope takes any action: whether params are valid is said by the action's schema, not by this one.
[[operations]]
include-name = "POST /a2a/message"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 409, 412, 429, "5xx"]

# A query parameter that is a list takes nearly any text, as a list of one item.
[[operations]]
include-name = ["GET /public/agents", "GET /api/agents"]
checks.negative_data_rejection.expected-statuses = ["2xx", 400, 401, 403, 404, 405, 406, 409, 412, 415, 422, 428, 429]

# Which fields a new agent needs depends on whether it has a manifest.
[[operations]]
include-name = "POST /api/agents/publish"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 409, 412, 429, "5xx"]

# Which symbols there can be depends on asset_class and currency, and on lists of pairs and exchanges.
[[operations]]
include-name = "POST /a2a/utility/finance"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 429, "5xx"]
`
