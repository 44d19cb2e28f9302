import type { IncomingHttpHeaders } from 'node:http'
import type { McpRequest } from '../../../common/mcp/message.ts'
import { modernVersion, nameMember, namesRevision, versionKey } from '../../../common/mcp/protocol.ts'
import { type Fault, faults, refused } from './fault.ts'
import type { Meta } from './meta.ts'

/** True for a request of 2026-07-28, by its params or, if they state no protocol version, by its headers. */
export function isModern({ params }: McpRequest, headers?: IncomingHttpHeaders): boolean {
  return namesRevision(params) || (single(headers?.['mcp-protocol-version']) ?? '') >= modernVersion
}

/** Checks that the headers agree with the body. Throws Fault -32020. */
export function assertAgreement({ method }: McpRequest, meta: Meta, headers: IncomingHttpHeaders): void {
  const version = single(headers['mcp-protocol-version'])
  if (version !== undefined && version !== meta[versionKey])
    throw mismatch('MCP-Protocol-Version', version, meta[versionKey])
  const stated = single(headers['mcp-method'])
  if (stated !== undefined && stated !== method) throw mismatch('Mcp-Method', stated, method)
}

/** Checks the required headers, and the name in them. Throws Fault -32020. */
export function assertHeaders({ method, params }: McpRequest, headers: IncomingHttpHeaders): void {
  for (const name of ['MCP-Protocol-Version', 'Mcp-Method']) {
    if (single(headers[name.toLowerCase()]) === undefined) throw mismatch(name)
  }
  const member = nameMember(method)
  if (member === undefined) return
  const value = params?.[member]
  const header = single(headers['mcp-name'])
  if (header === undefined) {
    if (typeof value === 'string') throw mismatch('Mcp-Name', undefined, value)
    return
  }
  const decoded = decode(header)
  if (decoded === undefined) throw mismatch('Mcp-Name', header, 'text in canonical Base64')
  if (typeof value === 'string' && decoded !== value) throw mismatch('Mcp-Name', header, value)
}

const sentinel = /^=\?base64\?(.*)\?=$/s
const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Streamable HTTP, Value Encoding: plain, or UTF-8 as Base64 between `=?base64?` and `?=`. */
function decode(header: string): string | undefined {
  const encoded = sentinel.exec(header)?.[1]
  if (encoded === undefined) return header
  if (!canonical.test(encoded)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'))
  } catch {
    return undefined
  }
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header
}

function mismatch(name: string, header?: string, body?: string): Fault {
  const message =
    header === undefined
      ? `Header mismatch: ${name} is required.`
      : `Header mismatch: ${name} is '${header}' where the body has '${body}'.`
  return refused(faults.headerMismatch, message)
}
