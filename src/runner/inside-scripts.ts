import { fileURLToPath } from 'node:url'
import { inside } from './sandbox/sandbox.ts'

/** Files that run in the sandbox have the extension of this file: .mts in the sources, .mjs in the build. */
const extension = import.meta.url.endsWith('.ts') ? 'mts' : 'mjs'

/** A script that runs in the sandbox, by its path there. */
function scriptIn(name: string) {
  const path = `${inside.scripts}/${name}.${extension}`
  return {
    path,
    reads: { [path]: fileURLToPath(new URL(`./inside/${name}.${extension}`, import.meta.url)) },
  }
}

export const relay = scriptIn('relay')
export const lookUp = scriptIn('look-up')
export const unpack = scriptIn('unpack')

/** Where the relay listens if it starts no command. */
export const relayPort = 3128
