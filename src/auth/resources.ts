import { type ResourcePath, resourcePaths } from '../../schemas/scope.ts'

/** Paths that were resources of their own once. Clients may still request them, and older tokens name them. */
const olderPaths: ReadonlyMap<string, ResourcePath> = new Map([
  ['/', ''],
  ['/rpc', ''],
  ['/mcp/ws', '/mcp'],
  ['/a2a/message', '/a2a'],
  ['/a2a/v1', '/a2a'],
])

/** The resource that an address names; undefined if it is none of this gateway. */
export function resourceNamed(address: string, baseUrl: string): ResourcePath | undefined {
  if (!address.startsWith(baseUrl)) return undefined
  const path = address.slice(baseUrl.length)
  return resourcePaths.find((resource) => resource === path) ?? olderPaths.get(path)
}

/** Every address that names a resource. */
export function resourceNames(baseUrl: string): string[] {
  return [...resourcePaths, ...olderPaths.keys()].map((path) => baseUrl + path)
}

/** The resources that an audience names; undefined for all of them. */
export function resourcesIn(
  audience: readonly string[],
  baseUrl: string,
): readonly ResourcePath[] | undefined {
  const resources = new Set(audience.flatMap((address) => resourceNamed(address, baseUrl) ?? []))
  return resources.size === resourcePaths.length ? undefined : [...resources]
}

/** The start of a request target, which may be a whole URL (RFC 9112 section 3.2.2). */
const belowResource = /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*)?(\/mcp|\/a2a)(?![\w-])/

/** The protected resource that answers a request target. */
export function resourceAt(target = ''): ResourcePath {
  return (belowResource.exec(target)?.[1] ?? '') as ResourcePath
}
