import { isRecord } from '../../../schemas/json.ts'
import { capabilitiesKey, logLevelKey, modernVersion } from '../../../src/common/mcp/protocol.ts'
import { createLegacy, type Legacy, LegacyClients } from '../../../src/transports/mcp/protocol-2025/legacy.ts'
import { Fault, faults } from '../../../src/transports/mcp/protocol-2026/fault.ts'
import { createModern, type Modern } from '../../../src/transports/mcp/protocol-2026/protocol.ts'
import { createResultWriter } from '../../../src/transports/mcp/protocol-2026/result.ts'
import type { McpService } from '../../../src/transports/mcp/service.ts'
import { listenBy, type Subscribe } from '../../../src/transports/mcp/views/subscriptions.ts'
import { inputRequired, type Question } from './ask.ts'
import { getPrompt, prompts, readResource, resources, resourceTemplates } from './documents.ts'
import { inputTools } from './input-tools.ts'
import { type FixtureTool, plainTools, type ToolRequest } from './tools.ts'

const info = { name: 'conformance-fixture', version: '1' }
const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  logging: {},
}

const tools = new Map<string, FixtureTool>(Object.entries({ ...plainTools, ...inputTools }))

const listing = [...tools].map(([name, { description, properties = {}, inputSchema }]) => ({
  name,
  description,
  inputSchema: inputSchema ?? { type: 'object', properties, required: Object.keys(properties) },
}))

/** Calls a tool of the fixture, in either era. */
type CallFixture = (
  params: Readonly<Record<string, unknown>>,
  request: Pick<ToolRequest, 'capabilities' | 'logLevel' | 'notify' | 'ask'>,
) => Promise<object>

export function createCall(changed: ToolRequest['changed']): CallFixture {
  return async (params, request) => {
    const tool = tools.get(String(params.name))
    if (!tool) throw new Fault(faults.invalidParams, `There is no tool ${params.name}.`)
    const input = isRecord(params.arguments) ? params.arguments : {}
    const progressToken = isRecord(params._meta) ? params._meta.progressToken : undefined
    return await tool.run({ ...request, params, input, progressToken, changed })
  }
}

/** A question of a tool that expects its answer at once: in this era it ends the call, and comes back answered. */
async function answering(
  clientCapabilities: object,
  run: (
    ask: (question: Question, responses: unknown) => Promise<Readonly<Record<string, unknown>>>,
  ) => Promise<object>,
): Promise<object> {
  const open = Promise.withResolvers<object>()
  const result = run(async (question, responses) => {
    const answer = isRecord(responses) ? responses.direct : undefined
    if (isRecord(answer)) return answer
    open.resolve(inputRequired({ direct: question }, clientCapabilities))
    return await new Promise(() => {})
  })
  return await Promise.race([result, open.promise])
}

const freshness = { ttlMs: 1000, cacheScope: 'public' } as const

/** The fixture on our own dispatchers. */
export function createFixtureService(
  call: CallFixture,
  subscribe: Subscribe,
  onError: (fault: unknown) => void,
): McpService {
  return {
    modern: createFixtureModern(call, subscribe, onError),
    legacy: createFixtureLegacy(call, subscribe, onError),
  }
}

function createFixtureLegacy(
  call: CallFixture,
  subscribe: Subscribe,
  onError: (fault: unknown) => void,
): Legacy {
  return createLegacy({
    onError,
    clients: new LegacyClients(),
    agent: info.name,
    subscribe,
    streams: true,
    describe: () => ({ capabilities, serverInfo: info }),
    methods: {
      'tools/list': () => ({ tools: listing }),
      'tools/call': (params, { facts, notify }) =>
        answering(facts.capabilities, (ask) =>
          call(params, {
            capabilities: facts.capabilities,
            logLevel: 'info',
            notify,
            ask: (question) => ask(question, params.inputResponses),
          }),
        ),
      'resources/list': () => ({ resources }),
      'resources/templates/list': () => ({ resourceTemplates }),
      'resources/read': ({ uri }) => readResource(String(uri)),
      'resources/subscribe': () => ({}),
      'resources/unsubscribe': () => ({}),
      'prompts/list': () => ({ prompts }),
      'prompts/get': (params) => getPrompt(params, {}),
      'logging/setLevel': () => ({}),
      'completion/complete': () => ({ completion: { values: [], total: 0, hasMore: false } }),
    },
  })
}

function createFixtureModern(
  call: CallFixture,
  subscribe: Subscribe,
  onError: (fault: unknown) => void,
): Modern {
  const { write } = createResultWriter(info)
  return createModern({
    onError,
    methods: {
      'subscriptions/listen': listenBy(subscribe, write),
      'server/discover': () => write({ supportedVersions: [modernVersion], capabilities }, freshness),
      'tools/list': () => write({ tools: listing }, freshness),
      'tools/call': async (params, { meta, notify }) =>
        write(
          await answering(meta[capabilitiesKey], (ask) =>
            call(params, {
              capabilities: meta[capabilitiesKey],
              logLevel: meta[logLevelKey],
              notify,
              ask: (question) => ask(question, params.inputResponses),
            }),
          ),
        ),
      'resources/list': () => write({ resources }, freshness),
      'resources/templates/list': () => write({ resourceTemplates }, freshness),
      'resources/read': ({ uri }) => write(readResource(String(uri)), freshness),
      'prompts/list': () => write({ prompts }, freshness),
      'prompts/get': (params, { meta }) => write(getPrompt(params, meta[capabilitiesKey])),
      'completion/complete': () => write({ completion: { values: [], total: 0, hasMore: false } }),
    },
  })
}
