import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createVectorIndex } from '../../src/registry/indexing/vector-index.ts'
import { openVectorIndexSwitch } from '../../src/registry/indexing/vector-index-switch.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { plainVectors, tinyEmbedder } from '../search/support/plain-vectors.ts'
import { temporaryFolder } from '../support/command.ts'
import { sampleEntry } from '../support/entries.ts'

interface Settings {
  readonly model: string
}

/** A store, and models by name that arms are opened with; a model in `asleep` fails to embed, one in `gone` to open. */
async function openHome() {
  const stack = new AsyncDisposableStack()
  const folder = stack.use(await temporaryFolder())
  const store = stack.use(await openSqliteStore(join(folder.path, 'registry.sqlite')))
  const models = new Map<string, ReturnType<typeof tinyEmbedder>>()
  const faults: unknown[] = []
  const asleep = new Set<string>()
  const gone = new Set<string>()

  async function openArms(model: string) {
    models.clear()
    return await openVectorIndexSwitch<Settings>({
      store,
      configured: { model: model },
      standby: { model: 'standby' },
      onError: (fault) => void faults.push(fault),
      async open({ model }) {
        if (gone.has(model)) throw new Error(`${model} is gone.`)
        const tiny = tinyEmbedder(model)
        tiny.state.failing = asleep.has(model)
        models.set(model, tiny)
        return createVectorIndex(store, tiny.embedder, plainVectors(), (fault) => void faults.push(fault))
      },
    })
  }
  return { store, openArms, models, faults, asleep, gone, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

function put(store: Store, ...descriptions: string[]) {
  return store.write(async (writer) => {
    for (const [at, description] of descriptions.entries()) {
      await writer.put(sampleEntry({ package_name: `com.example.a${at}${description}`, description }))
    }
  })
}

/** What the arms that serve find. */
async function find(arms: Awaited<ReturnType<typeof openVectorIndexSwitch>>, text: string) {
  const likeness = await arms.meaning.compare(text, {}, [], new AbortController().signal)
  return [...(likeness?.near.values() ?? [])].filter(({ similarity }) => similarity > 0.7).length
}

test('every text is embedded once: after another start, and where two entries say the same', async () => {
  await using home = await openHome()
  await put(home.store, 'weather', 'mail', 'mail')
  {
    await using arms = await home.openArms('standby')
    await arms.ready
    expect(arms.progress()).toMatchObject({ model: 'standby', applied_revision: 3 })
    expect(arms.progress().embedded).toBeGreaterThan(0)
    expect(await find(arms, 'umbrella')).toBe(1)
  }
  await using again = await home.openArms('standby')
  await again.ready
  expect(again.progress().embedded).toBe(0)
  expect(await find(again, 'umbrella')).toBe(1)
})

test('a new model takes over once it knows every entry; until then the old one serves, and progress shows', async () => {
  await using home = await openHome()
  await put(home.store, 'weather', 'mail')
  {
    await using before = await home.openArms('old')
    await expect.poll(() => before.progress().model).toBe('old')
  }
  home.asleep.add('new')
  await using arms = await home.openArms('new')
  await arms.ready
  expect(arms.progress()).toMatchObject({ model: 'old', applied_revision: 2, embedded: 0 })
  expect(arms.progress().next).toMatchObject({ model: 'new', applied_revision: 0 })
  expect(await find(arms, 'umbrella')).toBe(1)

  home.models.get('new')!.state.failing = false
  await expect
    .poll(() => arms.progress(), { timeout: 5000 })
    .toMatchObject({ model: 'new', applied_revision: 2 })
  expect(arms.progress().next).toBeUndefined()
  expect(await find(arms, 'umbrella')).toBe(1)
  await expect.poll(() => home.models.get('old')!.state.disposed).toBe(true)
  expect(home.faults.map(String)).toContain('Error: The model is asleep.')
})

test('the fallback model serves if the previous model can no longer be opened', async () => {
  await using home = await openHome()
  await put(home.store, 'weather')
  {
    await using before = await home.openArms('old')
    await expect.poll(() => before.progress().model).toBe('old')
  }
  home.gone.add('old')
  home.asleep.add('new')
  await using arms = await home.openArms('new')
  await arms.ready
  expect(arms.progress().model).toBe('standby')
  expect(await find(arms, 'umbrella')).toBe(1)
  expect(home.faults.map(String)).toContain('Error: old is gone.')
})

test('a model that cannot be opened fails the start, without a fallback', async () => {
  await using home = await openHome()
  home.gone.add('new')
  await expect(home.openArms('new')).rejects.toThrow('new is gone.')
})

test('a failing model leaves no entry out: its requests are retried', async () => {
  await using home = await openHome()
  await using arms = await home.openArms('standby')
  await arms.ready
  home.models.get('standby')!.state.failing = true
  const { revision } = await put(home.store, 'weather')
  await arms.caughtUp(revision)
  expect(arms.progress().applied_revision).toBe(0)
  home.models.get('standby')!.state.failing = false
  await expect.poll(() => arms.progress().applied_revision, { timeout: 5000 }).toBe(revision)
  expect(await find(arms, 'umbrella')).toBe(1)
})
