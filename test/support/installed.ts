import { execFileSync } from 'node:child_process'
import { Failure } from '../../schemas/failure.ts'
import type { HostId, HostInstall, InstallConfig } from '../../schemas/install.ts'
import { unseen } from '../../schemas/liveness.ts'
import { Package } from '../../schemas/package.ts'
import { installConfigOf } from '../../src/registry/install/install-config.ts'
import type { Installed } from '../../src/registry/install/targets.ts'

/** An entry with what installing reads of it. */
export function installed(facts: Partial<Installed> = {}): Installed {
  return {
    package_name: 'com.example.weather',
    name: 'Weather',
    state: 'ACTIVE',
    suspended: null,
    endpoints: [],
    packages: [],
    callable: 'stated',
    liveness: unseen,
    card: {},
    manifest_url: 'https://registry.example/card.json',
    deprecated: null,
    ...facts,
  }
}

/** An entry with one package of npm. */
export function packaged(more: object = {}): Installed {
  return installed({
    packages: [
      Package.parse({ registry_type: 'npm', identifier: '@example/weather', version: '1.2.3', ...more }),
    ],
  })
}

/** An entry with one address. */
export function remote(more: object = {}): Installed {
  return installed({ endpoints: [{ protocol: 'mcp', url: 'https://weather.example.com/mcp', ...more }] })
}

export function install(entry: Installed, allowed: readonly string[] = []): InstallConfig {
  return installConfigOf(entry, { base_url: 'https://gateway.example', allowed })
}

/** What a host gets for the first target. */
export function hostOf(entry: Installed, host: HostId): HostInstall {
  const found = install(entry).targets[0]?.hosts.find((row) => row.host === host)
  if (!found) throw new Error(`nothing for ${host}`)
  return found
}

/** The member of the entry that is refused, with the reason; undefined if everything is installed. */
export function refusalOf(
  entry: Installed,
): { pointer: string; detail: string; hint: string | undefined } | undefined {
  try {
    install(entry)
    return undefined
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.code !== 'not_installable') throw thrown
    const [error] = thrown.details.errors ?? []
    return { pointer: error?.pointer ?? '', detail: error?.detail ?? '', hint: thrown.details.hint }
  }
}

/** The words that a POSIX shell makes of each line, in an environment of its own. */
export function wordsOf(lines: readonly string[], environment: Record<string, string> = {}): string[][] {
  const script = lines.map((line) => `printf '%s\\0' ${line}\nprintf '\\0\\0'\n`).join('')
  const output = execFileSync('/bin/sh', ['-eu'], {
    input: script,
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
  })
  return output
    .toString()
    .split('\0\0\0')
    .slice(0, -1)
    .map((words) => words.split('\0'))
}
