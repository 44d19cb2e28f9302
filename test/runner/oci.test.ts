import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { standardLimits } from '../../src/runner/create-runner.ts'
import type { PackageSource, RunRequest } from '../../src/runner/runner.ts'
import { findProgram } from '../../src/runner/sandbox/find-program.ts'
import { serve } from '../net/support.ts'
import { type BashImage, commandShell, makeBashImage } from '../support/bash-image.ts'
import { hostPath, openTestRunner, type TestRunner } from '../support/runner.ts'

const execute = promisify(execFile)
const never = new AbortController().signal
const mebibyte = 1024 ** 2
const lacking = findProgram('podman', hostPath) === undefined ? 'podman is not installed' : ''
const registry = { npm: 'http://127.0.0.1:1', pypi: 'http://127.0.0.1:1/simple' }
const limits = {
  ...standardLimits,
  memory_bytes: 100 * mebibyte,
  disk_bytes: 4 * mebibyte,
  processes: 20,
  open_files: 64,
}

describe.skipIf(lacking)('an image', () => {
  let image: BashImage
  let world: TestRunner
  // Other processes make folders of these names in the folder of the system.
  const temporary = mkdtempSync(join(tmpdir(), 'dragoman-oci-'))
  const before = process.env.TMPDIR
  beforeAll(async () => {
    process.env.TMPDIR = temporary
    image = await makeBashImage()
    await image.import('1.0.0', 'puppet')
    world = await openTestRunner(registry, { limits })
    expect(await world.runner.sandbox('oci')).toMatchObject({ kind: 'podman', problem: null })
  })
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]()
    await image?.[Symbol.asyncDispose]()
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(temporary, { recursive: true, force: true })
  })
  const oci = (version = '1.0.0', identifier = image.name): PackageSource => ({
    registry_type: 'oci',
    identifier,
    version,
  })

  async function start(more: Partial<RunRequest> = {}, source = oci()) {
    const resolved = await world.runner.resolve(source, never)
    const { lock } = await world.runner.install(resolved, { scripts: false }, never)
    const request = { resolved, lock, scripts: false, home: 'home', args: [], env: {}, hosts: [], ...more }
    return await world.runner.start(request, never)
  }

  test('runs its own program with arguments and variables as they are, as a user of its own', async () => {
    const args = ['--privileged', '-v', '/:/host', '$(id)', "a'b", '']
    await using child = await start({ args, env: { TOKEN: '$HOME "x" #y', SECOND: ' a=b ' } })
    const run = commandShell(child)
    expect(await run('printf "[%s]" "$@"')).toBe(args.map((arg) => `[${arg}]`).join(''))
    expect(await run('printf "[%s]" "$TOKEN" "$SECOND" "$HOME" "$PWD"')).toBe(
      '[$HOME "x" #y][ a=b ][/home/package][/]',
    )
    expect(Number(await run('echo $UID'))).toBeGreaterThan(process.getuid?.() === 0 ? 60_000 : 0)
    const status = await run('while read -r line; do echo "$line"; done < /proc/self/status')
    expect(status).toMatch(/CapEff:\s+0{16}\|/)
    expect(status).toMatch(/NoNewPrivs:\s+1\|/)
    await expect(start({ env: { A: 'x\ny' } })).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('sees neither the files, the environment nor the network of the host', async () => {
    process.env.DRAGOMAN_CANARY = 'canary'
    await using child = await start()
    delete process.env.DRAGOMAN_CANARY
    const run = commandShell(child)
    expect(await run('echo /* /home/* /root/*')).not.toMatch(/work|usr\/share|\.bash/)
    for (const path of ['/etc/shadow', world.folder, `/proc/${process.pid}/environ`])
      expect(await run(`[[ -e ${path} ]] && echo seen`)).toBe('')
    expect(await run('while read -rd "" line; do echo "$line"; done < /proc/1/environ')).not.toContain(
      'canary',
    )
    expect(await run('while read -r line; do echo "$line"; done < /etc/hosts')).toBe(
      '127.0.0.1 localhost|::1 localhost',
    )
    for (const host of ['169.254.169.254/80', '1.1.1.1/53', '127.0.0.1/22', 'example.com/80'])
      expect(await run(`echo > /dev/tcp/${host} && echo connected`)).toMatch(
        /unreachable|refused|resolution|not known/i,
      )
    for (const path of ['/x', '/bin/x', '/puppet', '/proc/sys/kernel/hostname', '/sys/x'])
      expect(await run(`echo x > ${path} && echo written`)).toMatch(/read-only|denied|no such file/i)
  })

  test('keeps HOME, and nothing else, between its processes', async () => {
    {
      await using first = await start({ home: 'kept' })
      expect(await commandShell(first)('echo mine > ~/note; echo mine > /tmp/note')).toBe('')
    }
    await using again = await start({ home: 'kept' })
    expect(await commandShell(again)('read -r x < ~/note; echo $x; [[ -e /tmp/note ]] || echo none')).toBe(
      'mine|none',
    )
    await using other = await start({ home: 'other' })
    expect(await commandShell(other)('[[ -e ~/note ]] || echo none')).toBe('none')
  })

  test('is ended at its limits, with all of its processes', async () => {
    await using child = await start()
    const run = commandShell(child)
    const block = `block=$(printf "%01000000d" 0)`
    expect(await run(`${block}; for i in {1..9}; do printf %s "$block" > /tmp/$i || break; done`)).toMatch(
      /no space|too large/i,
    )
    void run(`!x=${'0'.repeat(1000)}; while :; do x=$x$x; done`)
    expect(await child.exited).toMatchObject({ reason: 'memory' })
    await using large = await start({ home: 'large' })
    void commandShell(large)(
      `${block}; for i in {1..9}; do printf %s "$block" > ~/$i; done; read -t 100 <> <(:)`,
    )
    expect(await large.exited).toMatchObject({ reason: 'disk' })
  })

  test('leaves no container and no file behind', async () => {
    {
      await using child = await start({ hosts: ['example.com'] })
      expect(await commandShell(child)('echo up')).toBe('up')
    }
    const { stdout } = await execute('podman', ['ps', '--all', '--format', '{{.Names}}'])
    expect(stdout.split('\n').filter((name) => name.startsWith(`dragoman-${process.pid}-`))).toEqual([])
    const left = readdirSync(temporary).filter((name) => /^dragoman-(run|egress)-/.test(name))
    expect(left).toEqual([])
  })

  test('with hosts reaches these by the proxy on its loopback, and no other', async () => {
    await using server = await serve((request, response) => response.end(`reached ${request.url}`))
    const { port } = server
    await using child = await start({ hosts: [`127.0.0.1:${port}`] })
    const run = commandShell(child)
    const get = (url: string) =>
      run(
        `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET ${url} HTTP/1.0\\r\\n\\r\\n' >&3; while read -r -t 5 line || [[ $line ]]; do echo "$line"; done <&3`,
      )
    expect(await run('echo $HTTP_PROXY $https_proxy')).toBe('http://127.0.0.1:3128 http://127.0.0.1:3128')
    expect(await get(`http://127.0.0.1:${port}/x`)).toMatch(/200 OK[\s\S]*reached \/x/)
    expect(await get('http://169.254.169.254/latest/')).toContain('403 Forbidden')
    expect(await run(`echo > /dev/tcp/127.0.0.1/${port} && echo connected`)).toMatch(/refused/i)
    expect(world.events).toContainEqual(
      expect.objectContaining({ type: 'refused_host', host: '169.254.169.254:80' }),
    )
  })

  test('keeps the folders that it wants to write to with its HOME, and is ended if they grow', async () => {
    await image.import('volume', 'puppet', ['VOLUME /data'])
    {
      await using first = await start({ home: 'volume' }, oci('volume'))
      expect(await commandShell(first)('echo mine > /data/x')).toBe('')
    }
    await using child = await start({ home: 'volume' }, oci('volume'))
    const run = commandShell(child)
    expect(await run('read -r x < /data/x; echo $x')).toBe('mine')
    const { stdout } = await execute('podman', ['volume', 'ls', '--quiet', '--filter', 'dangling=false'])
    expect(stdout.trim()).toBe('')
    const block = `block=$(printf "%01000000d" 0)`
    void run(`${block}; for i in {1..9}; do printf %s "$block" > /data/$i; done; read -t 100 <> <(:)`)
    expect(await child.exited).toMatchObject({ reason: 'disk' })
  })

  test('is pinned by its digest, whatever its tag names later', async () => {
    await image.import('moving', 'puppet')
    const resolved = await world.runner.resolve(oci('moving'), never)
    const { lock } = await world.runner.install(resolved, { scripts: false }, never)
    expect(resolved).toMatchObject({
      source: { version: 'moving' },
      integrity: expect.stringMatching(/^sha256-/),
    })
    await image.import('moving', 'server')
    const again = await world.runner.resolve(oci('moving'), never)
    expect(again.integrity).not.toBe(resolved.integrity)
    const request = { resolved, lock, scripts: false, home: 'home', args: [], env: {}, hosts: [] }
    await using child = await world.runner.start(request, never)
    expect(await commandShell(child)('echo $0')).toBe('/puppet')

    await image.import('latest', 'puppet')
    const newest = await world.runner.resolve(oci('latest'), never)
    expect(newest.source.version).toMatch(/^sha256:[0-9a-f]{64}$/)
    const byDigest = await world.runner.resolve(oci(newest.source.version), never)
    expect(byDigest.integrity).toBe(newest.integrity)
  })

  test('that is gone from the storage is not started, and not replaced by another one', async () => {
    await image.import('gone', 'puppet', ['LABEL gone=yes'])
    const resolved = await world.runner.resolve(oci('gone'), never)
    const { lock } = await world.runner.install(resolved, { scripts: false }, never)
    await execute('podman', ['rmi', '--force', `${image.name}:gone`])
    await image.import('gone', 'server')
    const request = { resolved, lock, scripts: false, home: 'home', args: [], env: {}, hosts: [] }
    await expect(world.runner.start(request, never)).rejects.toMatchObject({ code: 'wrong_state' })
    await expect(world.runner.install(resolved, { scripts: false, lock }, never)).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  test.each([
    ['docker.io/acme/server', '1.0.0', 'not_installable', /docker\.io is not a registry/],
    ['acme/server', '1.0.0', 'not_installable', /docker\.io is not a registry/],
    ['ghcr.io/acme/server:1', 'latest', 'not_installable', /ghcr\.io is not a registry/],
    ['localhost.evil.example/acme', '1', 'not_installable', /localhost\.evil\.example is not a registry/],
    ['localhost:1/acme', '1', 'not_installable', /localhost:1 is not a registry/],
    ['--privileged', '1', 'invalid_request', /not the name of an image/],
    ['localhost/x --privileged', '1', 'invalid_request', /not the name of an image/],
    ['localhost/../x', '1', 'invalid_request', /not the name of an image/],
    ['docker-archive:/etc/passwd', '1', 'invalid_request', /not the name of an image/],
    ['localhost/x', '1 --privileged', 'invalid_request', /not the tag of an image/],
    ['localhost/dragoman-is-missing', '1', 'not_found', /no image .* on this machine/],
  ])('named %s %s is refused', async (identifier, version, code, message) => {
    await expect(world.runner.resolve(oci(version, identifier), never)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    })
  })

  test('needs podman or docker, and the error says so', async () => {
    await using bare = await openTestRunner(registry, { sandboxes: ['bubblewrap'] })
    await expect(bare.runner.resolve(oci(), never)).rejects.toMatchObject({
      code: 'not_configured',
      message: expect.stringContaining('Images need podman or docker'),
    })
    expect(await bare.runner.sandbox('oci')).toMatchObject({ kind: null })
  })
})
