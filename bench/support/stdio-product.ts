// MCP over stdio as a subject: runs the same server as `dragoman mcp`.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/app/config.ts'
import { openGateway } from '../../src/app/gateway.ts'
import { createMcpService } from '../../src/transports/mcp/service.ts'
import { serveMcpStdio } from '../../src/transports/mcp/stdio.ts'
import { announce } from './measure.ts'

const data = mkdtempSync(join(tmpdir(), 'dragoman-bench-'))
process.on('exit', () => rmSync(data, { recursive: true, force: true }))
const gateway = await openGateway(readConfig({ DRAGOMAN_DATA: data, DRAGOMAN_LOG: 'error' }))
announce('stdio')
const onError = () => {}
await serveMcpStdio(createMcpService(gateway, '0', onError), { identify: () => null }, onError)
