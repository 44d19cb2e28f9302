/**
 * Runs in the sandbox: gives a command the egress proxy as an HTTP proxy on loopback.
 *
 *     node relay.mjs SOCKET COMMAND ARGUMENT…
 *     node relay.mjs SOCKET                    listens for other containers and prints a line
 */
import { spawn } from 'node:child_process'
import { writeSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { constants } from 'node:os'

/** `relayPort` of the runner. */
const sharedPort = 3128
const [socket = '', command = '', ...args] = process.argv.slice(2)

// Sockets look at these; opening them would make standard output and error non-blocking for the command too.
for (const name of ['stdout', 'stderr']) Object.defineProperty(process, name, { value: undefined })

const server = createServer((client) => {
  const proxy = connect(socket)
  for (const [from, to] of [
    [client, proxy],
    [proxy, client],
  ] as const) {
    from.pipe(to)
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
})

if (command === '') server.listen(sharedPort, '127.0.0.1', () => writeSync(1, 'ready\n'))
else server.listen(0, '127.0.0.1', startCommand)

function startCommand(): void {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const names = [
    'HTTP_PROXY',
    'HTTPS_PROXY',
    'http_proxy',
    'https_proxy',
    'npm_config_proxy',
    'npm_config_https_proxy',
  ]
  const proxies = Object.fromEntries(names.map((name) => [name, url]))
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, ...proxies, NODE_USE_ENV_PROXY: '1' },
  })
  child.on('error', (error) => {
    writeSync(2, `${error.message}\n`)
    process.exit(127)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? 'SIGHUP']))
}
