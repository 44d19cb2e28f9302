import { join } from 'node:path'
import { findPackage } from '../common/optional-package.ts'
import { peerDependencies } from './assets.ts'
import type { Config } from './config.ts'

/** Parts that most gateways do not need, with their packages. */
export const extras = {
  lance: ['@lancedb/lancedb', 'apache-arrow'],
  transformers: ['@huggingface/transformers'],
} as const

export type Extra = keyof typeof extras

/** Folder of optional packages that are not installed beside the gateway. */
export function extrasFolder({ DRAGOMAN_EXTRAS, data }: Pick<Config, 'DRAGOMAN_EXTRAS' | 'data'>): string {
  return DRAGOMAN_EXTRAS ?? join(data, 'extras')
}

/** The packages of an extra with the versions that this gateway is tested with, as npm takes them. */
export function packagesOf(extra: Extra): string[] {
  return extras[extra].map((name) => `${name}@${peerDependencies[name]}`)
}

/** Where an extra is installed: its folder, or beside the gateway; undefined if it is not. */
export function placeOf(extra: Extra, folder: string): string | undefined {
  const [name] = extras[extra]
  const [found] = findPackage(name, folder)
  return found?.path.slice(0, found.path.lastIndexOf(name) + name.length)
}
