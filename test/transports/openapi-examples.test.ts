import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, describe, expect, test } from 'vitest'
import { answerExamples, bodyExamples } from '../../src/transports/http/openapi/examples.ts'
import { routes } from '../../src/transports/http/routes.ts'
import { startGateway } from '../support/gateway.ts'

const home = await startGateway()
const document = (await home.request('GET', '/openapi.json')).json
const token = await home.token('publisher', { namespaces: ['com.example'] })
const admin = await home.token('operator', { scopes: ['admin'] })
const validate = new Ajv2020({ strict: false, validateFormats: false })
validate.addSchema(document, 'document')
afterAll(() => home[Symbol.asyncDispose]())

function errorsOf(pointer: string, value: unknown) {
  const check = validate.compile({ $ref: `document#${pointer}` })
  return check(value) ? [] : check.errors
}

const escaped = (path: string) => path.replaceAll('~', '~0').replaceAll('/', '~1')

function bodies() {
  // biome-ignore lint/suspicious/noExplicitAny: as above
  return Object.entries<any>(document.paths).flatMap(([path, item]) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above
    Object.entries<any>(item).flatMap(([method, operation]) => {
      const media = operation.requestBody?.content['application/json']
      return media ? [{ path, method, operation, media }] : []
    }),
  )
}

describe('the examples of the OpenAPI document', () => {
  test('are there for each body of a row, and each is as its schema says', () => {
    const rows = new Set(['sendMessage', ...routes.map(({ id }) => id)])
    const wrong = bodies()
      .filter(({ operation }) => rows.has(operation.operationId))
      .flatMap(({ path, method, operation, media }) => {
        const pointer = `/paths/${escaped(path)}/${method}/requestBody/content/application~1json/schema`
        const errors = media.example === undefined ? ['has none'] : errorsOf(pointer, media.example)
        return errors && errors.length > 0 ? [[operation.operationId, errors]] : []
      })
    expect(wrong).toEqual([])
    expect(Object.keys(bodyExamples).filter((id) => !rows.has(id))).toEqual([])
  })

  test.each(Object.keys(answerExamples))('of %s are as the schema says', (name) => {
    const { examples } = document.components.schemas[name]
    expect(examples).toEqual([answerExamples[name]])
    expect(errorsOf(`/components/schemas/${name}`, examples[0])).toEqual([])
  })

  test('of bodies are accepted by a gateway: none is a 400', async () => {
    const made = await home.request('POST', '/api/agents/publish', { token, body: bodyExamples.publishAgent })
    expect(made.status, made.text).toBe(201)
    const session = (await home.request('POST', '/api/playground/session')).json.id
    const webhook = (await home.request('POST', '/api/webhooks', { token, body: bodyExamples.createWebhook }))
      .json.id
    const ids: Record<string, string> = { agent: made.json.id, session, webhook }
    const admins = new Set(['suspendAgent', 'purgeAgent', 'setQuota'])
    const last = new Set(['purgeAgent', 'deletePersonalData'])
    const sent = Object.entries(bodyExamples).filter(([id]) => id !== 'publishAgent')
    const ordered = [...sent].sort(([left], [right]) => Number(last.has(left)) - Number(last.has(right)))
    const refused: unknown[] = []
    for (const [id, body] of ordered) {
      const found = bodies().find(({ operation }) => operation.operationId === id)
      const path = found?.path.replace(/\{(\w+)\}/g, (_: string, name: string) => ids[name] ?? '') ?? ''
      const as = admins.has(id) ? admin : token
      const { status, json } = await home.request(found?.method.toUpperCase() ?? '', path, {
        token: as,
        body,
      })
      if (status === 400 || status === 404 || status === 415 || status === 500)
        refused.push([id, status, json])
    }
    expect(refused).toEqual([])
  })
})
