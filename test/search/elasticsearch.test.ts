import { afterAll, beforeAll, describe } from 'vitest'
import { createSafeFetch } from '../../src/net/fetch/safe-fetch.ts'
import { createElasticIndex } from '../../src/search/elasticsearch/elastic-index.ts'
import { createElasticVectors } from '../../src/search/elasticsearch/elastic-vectors.ts'
import { elasticsearch, startElasticsearch, type TestElasticsearch } from '../support/elasticsearch.ts'
import { searchIndexContract } from './contract.ts'
import { vectorStoreContract } from './vectors/contract.ts'

describe.skipIf(!elasticsearch)('Elasticsearch', () => {
  let server: TestElasticsearch
  beforeAll(async () => {
    server = await startElasticsearch()
  }, 180_000)
  afterAll(() => server?.[Symbol.asyncDispose]())

  let made = 0
  const open = async () => {
    const { fetch } = createSafeFetch({ user_agent: 'test', allow_origins: [server.origin] })
    const location = { url: server.origin, index: `test-${process.pid}-${made++}` }
    return createElasticIndex({ location, fetch, originAt: async (revision) => `${revision}` })
  }

  searchIndexContract('in Elasticsearch', open)
  vectorStoreContract(
    'in Elasticsearch',
    async (dimensions) => {
      const { fetch } = createSafeFetch({ user_agent: 'test', allow_origins: [server.origin] })
      const location = { url: server.origin, index: `test-${process.pid}-${made++}` }
      const originAt = async (revision: number) => `${revision}`
      const onError = (fault: unknown) => console.error(fault)
      const store = createElasticVectors({ location, fetch, model: 'plain', dimensions, originAt, onError })
      await store.apply([], 0)
      return store
    },
    { runs: 2, share: 0.1, isExact: false },
  )
})
