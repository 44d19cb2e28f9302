// Packs the project, installs it into an empty folder without development dependencies and runs it there:
// by Node 24 it serves and searches, by an older Node alone it names the Node it needs.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const root = resolve(import.meta.dirname, '..')
const node24 = join(root, 'node_modules/node/bin/node')
const folder = mkdtempSync(join(tmpdir(), 'dragoman-package-'))
const environment = { ...process.env, DRAGOMAN_DATA: join(folder, 'data'), PORT: '0' }
const maxBytes = 8 * 1024 * 1024
let packedBytes = Number.POSITIVE_INFINITY
const results = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0 }

const checks = {
  'has at most 8 MB beside the models': () => {
    if (packedBytes > maxBytes) throw new Error(`It has ${packedBytes} bytes.`)
  },
  'serves and searches by words and by intent, by Node 24': async () => {
    const child = spawn(node24, [bin(), 'serve'], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const url = await listening(child)
      const answer = await fetch(`${url}/public/agents?q=encyclopedia`)
      const { agents } = await answer.json()
      if (agents[0]?.package_name !== 'svc.utility.wiki')
        throw new Error(`It found ${JSON.stringify(agents[0])}.`)
      const meant = await (await fetch(`${url}/public/agents?q=how+much+is+bitcoin+worth`)).json()
      const [first] = meant.agents
      if (first?.package_name !== 'svc.utility.finance' || !(first.match.similarity > 0.2))
        throw new Error(`By intent it found ${JSON.stringify(first)}.`)
    } finally {
      child.kill('SIGKILL')
    }
  },
  'has a client for programs, which is refused in words': async () => {
    const child = spawn(node24, [bin(), 'serve'], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const url = await listening(child)
      const program = `import { createWebSocketTransport } from 'dragoman/client'
        const good = createWebSocketTransport('${url}/mcp/ws')
        await good.start()
        await good.close()
        await createWebSocketTransport('${url}/mcp/ws', { token: 'bad' }).start()
          .catch(({ status, code }) => console.log(status, code))`
      const said = execFileSync(node24, ['--input-type=module', '-e', program], {
        cwd: folder,
        encoding: 'utf8',
      })
      if (said !== '401 unauthenticated\n') throw new Error(`It said ${said}`)
    } finally {
      child.kill('SIGKILL')
    }
  },
  'has a client of the REST interface': async () => {
    const child = spawn(node24, [bin(), 'serve'], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const url = await listening(child)
      const program = `import { createClient } from 'dragoman/rest'
        const client = createClient({ url: '${url}' })
        for await (const { package_name } of client.searchAll({ q: 'encyclopedia', limit: 1 })) {
          console.log(package_name)
          break
        }
        await client.GET('/api/usage').catch(({ status, code }) => console.log(status, code))`
      const printed = execFileSync(node24, ['--input-type=module', '-e', program], {
        cwd: folder,
        encoding: 'utf8',
      })
      if (printed !== 'svc.utility.wiki\n401 unauthenticated\n') throw new Error(`It printed ${printed}`)
      if (!existsSync(join(folder, 'node_modules/dragoman/dist/src/client/rest/index.d.ts')))
        throw new Error('The types of the client are not in the package.')
    } finally {
      child.kill('SIGKILL')
    }
  },
  'searches with fewer than 250 modules': () => {
    const hooks = `import { registerHooks } from 'node:module'
      let count = 0
      registerHooks({ load: (url, context, next) => (count++, next(url, context)) })
      process.on('exit', () => console.error(count))`
    const counting = `data:text/javascript,${encodeURIComponent(hooks)}`
    const { stderr } = spawnSync(node24, ['--import', counting, bin(), 'search', 'tides'], {
      env: environment,
      encoding: 'utf8',
    })
    const count = Number(/\d+$/.exec(stderr.trim()))
    if (!(count > 0 && count < 250)) throw new Error(stderr)
  },
  'prints a token': async () => {
    const token = execFileSync(node24, [bin(), 'token', 'create', '--sub', 'me'], {
      env: environment,
      encoding: 'utf8',
    })
    if (!/^[\w-]+\.[\w-]+\.[\w-]+\n$/.test(token)) throw new Error(`It printed ${token}`)
  },
  'reads a page in its worker': async () => {
    const params = JSON.stringify({ url: 'http://127.0.0.1:9/' })
    const { stderr } = spawnSync(node24, [bin(), 'call', 'svc.utility.reader', 'extract_content', params], {
      env: environment,
      encoding: 'utf8',
    })
    if (!stderr.includes('blocked_address')) throw new Error(stderr)
    if (!existsSync(join(folder, 'node_modules/dragoman/dist/agents/reader/worker.js')))
      throw new Error('The worker is not in the package.')
  },
  'is installed in 150 MB': () => {
    const kilobytes = Number(
      /^\d+/.exec(execFileSync('du', ['-sk', join(folder, 'node_modules')], { encoding: 'utf8' })),
    )
    if (!(kilobytes < 150_000)) throw new Error(`It takes ${kilobytes} kB.`)
  },
  'says how an optional part is installed': () => {
    const { status, stderr } = spawnSync(node24, [bin(), 'search', 'tides'], {
      env: { ...environment, DRAGOMAN_VECTORS: 'lance' },
      encoding: 'utf8',
    })
    if (status === 0 || !stderr.includes('dragoman extras add lance')) throw new Error(`${status}: ${stderr}`)
  },
  'names the Node that it needs to an older one': async () => {
    const older = ['/usr/bin/node', '/usr/local/bin/node'].find(
      (path) => existsSync(path) && majorOf(path) < 24,
    )
    if (!older) return 'skip'
    const { status, stderr } = spawnSync(older, [bin(), 'serve'], { env: environment, encoding: 'utf8' })
    if (status !== 1 || !/^Dragoman needs Node 24 or later; this is Node [\d.]+\.\nInstall it /.test(stderr))
      throw new Error(`${status}: ${stderr}`)
  },
}

function bin() {
  return join(folder, 'node_modules/dragoman/bin/dragoman.js')
}

function majorOf(path) {
  return Number(execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }).split('.')[0])
}

async function listening(child) {
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /listening on (\S+)/.exec(line)?.[1]
    if (url) return url
  }
  throw new Error('It ended before it listened.')
}

try {
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ filename, size, files }] = JSON.parse(packed.slice(packed.indexOf('[\n')))
  // Models hardly compress.
  const models = files.filter(({ path }) => path.startsWith('models/'))
  packedBytes = models.reduce((left, file) => left - file.size, size)
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  execFileSync(
    'npm',
    [
      'install',
      '--omit=dev',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      `dragoman@file:${join(folder, filename)}`,
    ],
    { cwd: folder, stdio: 'ignore' },
  )
  for (const [name, check] of Object.entries(checks)) {
    try {
      const skipped = (await check()) === 'skip'
      results[skipped ? 'numPendingTests' : 'numPassedTests'] += 1
      console.log(`${skipped ? 'skipped' : 'passed '} ${name}`)
    } catch (fault) {
      results.numFailedTests += 1
      console.log(`FAILED  ${name}: ${fault.message}`)
    }
  }
} catch (fault) {
  results.numFailedTests += 1
  console.log(`FAILED  to pack and install: ${fault.message}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (process.argv[2]) writeFileSync(process.argv[2], JSON.stringify(results))
process.exitCode = results.numFailedTests > 0 ? 1 : 0
