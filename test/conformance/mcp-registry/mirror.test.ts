import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Mirror } from '../../../schemas/mirror.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { bothSides } from '../../registry/mirror/mirror-run.ts'
import { run as runCommand, temporaryFolder } from '../../support/command.ts'
import { serve } from '../../support/serve.ts'
import { applyChanges, madeDocuments, publishedDocuments } from './documents.ts'
import { haveOfficialServer, startOfficialServer } from './official-server.ts'

const made = Number(process.env.SOAK_MIRRORED ?? (process.env.SOAK_ROUNDS === undefined ? 10_000 : 1_500))
const kills = 3

describe.skipIf(!haveOfficialServer)('a mirror of the official registry', () => {
  test(`of ${made} made rows and those that people published holds what it serves, after ${kills} times kill -9 and after changes`, async () => {
    await using registry = await startOfficialServer([...publishedDocuments(), ...madeDocuments(made)])
    await using folder = await temporaryFolder()
    const environment = {
      DRAGOMAN_DATA: folder.path,
      DRAGOMAN_ALLOW_ORIGINS: registry.url,
      DRAGOMAN_MIRRORS: `other=${registry.url}`,
      DRAGOMAN_RATE_LIMIT: 'off',
    }
    const token = (
      await runCommand(['token', 'create', '--sub', 'root', '--scope', 'admin'], environment)
    ).stdout.trim()

    /** Serves until the mirror is as `isEnough` says. */
    async function serveUntil(isEnough: (mirror: Mirror) => boolean, signal?: 'SIGKILL'): Promise<Mirror> {
      await using server = await serve(folder.path, environment)
      const ask = async (action: string, params: object) => {
        const answer = await fetch(`${server.url}/a2a/message`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
          body: JSON.stringify({ to: 'svc.registry', action, params }),
        })
        return await answer.json()
      }
      for (;;) {
        const { mirrors } = (await ask('list_mirrors', {})) as { mirrors: Mirror[] }
        const [mirror] = mirrors
        if (mirror?.error) throw new Error(mirror.error.message)
        if (mirror && isEnough(mirror)) {
          if (signal) server.process.kill(signal)
          return mirror
        }
        if (mirror?.status === 'waiting') await ask('run_mirror', { name: 'other' })
        await pause(50)
      }
    }

    for (let kill = 1; kill <= kills; kill++) {
      const enough = (made * kill) / (2 * kills + 2)
      await serveUntil(({ counts }) => counts.created >= enough, 'SIGKILL')
    }
    const first = await serveUntil(({ finished_at }) => finished_at !== null)
    expect(first).toMatchObject({ run: 1, mode: 'all', counts: { rejected: 0 } })
    const compare = async () => {
      await using store = await openSqliteStore(`${folder.path}/registry.sqlite`)
      return await bothSides({ store }, registry.url)
    }
    const before = await compare()
    expect(before.here).toEqual(before.there)
    await applyChanges(registry, { changes: 200, deletions: 50, statuses: 20 })
    const second = await serveUntil(({ run, status }) => run === 2 && status === 'waiting')
    expect(second).toMatchObject({ mode: 'changes', counts: { rejected: 0 } })
    expect(second.counts.created + second.counts.updated).toBeGreaterThanOrEqual(200)
    const after = await compare()
    expect(after.here).toEqual(after.there)
    expect(after.here).not.toEqual(before.here)
  })
})
