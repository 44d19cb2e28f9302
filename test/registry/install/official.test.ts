import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { derivedName } from '../../../schemas/derived-name.ts'
import { Failure } from '../../../schemas/failure.ts'
import { InstallConfig, type InstallTarget } from '../../../schemas/install.ts'
import { fieldsOf, readServer } from '../../../src/registry/catalog/server-json.ts'
import { install, installed, wordsOf } from '../../support/installed.ts'

const file = resolve(import.meta.dirname, '../../../../shared/data/official.jsonl')
const where = existsSync(file) ? '' : ' (skipped: ../shared/data is not here)'
const readers: Record<string, (text: string) => unknown> = {
  json: (text) => JSON.parse(text),
  toml: (text) => parseToml(text),
  yaml: (text) => parseYaml(text),
}

interface Stated {
  readonly name: string
  readonly packages?: { environmentVariables?: { isSecret?: boolean; default?: string }[] }[]
}

/** What every host gets for a target is read as the host does; lines of the shell are collected. */
function check({ target, hosts, start, needs }: InstallTarget, lines: string[]): void {
  for (const { host, reason, text, format, config, command, link, web_link } of hosts) {
    const bundle = command !== null && text === null
    if (reason !== null || bundle) {
      expect([reason === null || reason.endsWith('.'), text, link]).toEqual([true, null, null])
      if (bundle)
        expect(command).toMatch(
          /^curl -fsSLo [\w-]+\.mcpb https:\S+ && echo '[0-9a-f]{64} {2}[\w-]+\.mcpb' \| sha256sum -c -$/,
        )
      continue
    }
    expect(readers[format ?? '']?.(text ?? ''), `${target} ${host}`).toEqual(config)
    for (const address of [link, web_link]) if (address !== null) expect(URL.canParse(address)).toBe(true)
    if (command !== null) lines.push(command)
  }
  if (start !== null && needs.length === 0) lines.push(start.replace(/^(\w+=\S* )+/, ''))
}

test.skipIf(where !== '')(
  `every document of the official registry gives a configuration, or a reason${where}`,
  () => {
    const counts = { installed: 0, empty: 0, refused: 0, targets: 0 }
    const lines: string[] = []
    for (const line of readFileSync(file, 'utf8').trimEnd().split('\n')) {
      const { server } = JSON.parse(line) as { server: Stated }
      const entry = installed({
        package_name: derivedName(server.name),
        ...fieldsOf(readServer(server)),
      })
      try {
        const found = InstallConfig.parse(install(entry))
        expect(found.name).toMatch(/^[a-z0-9][a-z0-9_-]{0,39}$/)
        for (const target of found.targets) check(target, lines)
        for (const { reason, pointer } of found.refused)
          expect([pointer[0], reason.at(-1)]).toEqual(['/', '.'])
        counts.installed += 1
        counts.targets += found.targets.length
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown
        expect(thrown.code).toBe('not_installable')
        if (entry.packages.length + entry.endpoints.length === 0) counts.empty += 1
        else {
          counts.refused += 1
          expect(thrown.details.errors?.every(({ detail }) => detail.endsWith('.'))).toBe(true)
        }
      }
    }
    for (const words of wordsOf(lines)) {
      expect(words.length).toBeGreaterThan(1)
      expect(words.join('')).not.toMatch(/[\n\r]/)
    }
    expect(counts.installed).toBeGreaterThan(2500)
    expect(counts.refused).toBeLessThan(80)
    expect(lines.length).toBeGreaterThan(10_000)
  },
  60_000,
)
