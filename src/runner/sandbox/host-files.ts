import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { chmod, chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inside, type SandboxCommand } from './sandbox.ts'

/** A file or folder of the host as a sandbox sees it. */
export interface BindMount {
  readonly from: string
  readonly to: string
  readonly writable: boolean
}

/** What programs need and every user of the host may read. Never `/`, whose secrets root can read. */
const needed = [
  '/usr',
  '/nix/store',
  '/etc/ld.so.cache',
  '/etc/ssl/certs',
  '/etc/pki/tls/certs',
  '/etc/alternatives',
  '/etc/fonts',
  '/etc/localtime',
]
const programFolders = ['/bin', '/sbin', '/lib', '/lib32', '/lib64']

/** The system folders of this host. */
export function systemFolders(): string[] {
  return [...needed, ...programFolders.filter((path) => !isLink(path))].filter((path) => existsSync(path))
}

/** Folders such as `/bin` that are links into `/usr`. */
export function systemLinks(): { readonly path: string; readonly target: string }[] {
  return programFolders.filter(isLink).map((path) => ({ path, target: readlinkSync(path) }))
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

/** Everything of the host that a command sees. */
export function mountsOf(command: SandboxCommand): BindMount[] {
  const {
    package: { folder, writable },
    home,
    reads,
    egress,
  } = command
  const read = (from: string, to: string) => ({ from, to, writable: false })
  return [
    ...systemFolders().map((path) => read(path, path)),
    { from: folder, to: inside.package, writable },
    { from: home, to: inside.home, writable: true },
    ...Object.entries(reads).map(([to, from]) => read(from, to)),
    ...(egress === undefined ? [] : [read(egress, inside.egress)]),
  ]
}

/** The folders that a command may fill. */
function writableFolders({
  package: { folder, writable },
  home,
}: Pick<SandboxCommand, 'package' | 'home'>): string[] {
  return writable ? [home, folder] : [home]
}

/** The folder whose size counts: HOME, or the package of an installation, whose HOME is a cache that others fill too. */
export function watchedFolders({ package: { folder, writable }, home }: SandboxCommand): string[] {
  return [writable ? folder : home]
}

/** Writes the few files of `/etc` that a sandbox has of its own into `folder`. */
export async function writeOwnFiles(folder: string, uid: number): Promise<BindMount[]> {
  const contents = {
    passwd: `package:x:${uid}:${uid}::${inside.home}:/usr/sbin/nologin\n`,
    group: `package:x:${uid}:\n`,
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  }
  return await Promise.all(
    Object.entries(contents).map(async ([name, content]) => {
      await writeFile(join(folder, name), content)
      // The mode of writeFile is subject to the umask.
      await chmod(join(folder, name), 0o644)
      return { from: join(folder, name), to: `/etc/${name}`, writable: false }
    }),
  )
}

/** User ids that systemd too gives to services for the time that they run. */
const userIds = { first: 61_184, count: 4_336 }

/** The user id of an identity where the gateway runs as root and may give any; else that of the gateway. */
export function userIdOf(identity: string): number {
  const own = process.getuid?.() ?? 0
  if (own !== 0) return own
  return userIds.first + (createHash('sha256').update(identity).digest().readUInt32BE() % userIds.count)
}

/** Gives a user the folders that its command writes. */
export async function handOver(
  command: Pick<SandboxCommand, 'package' | 'home'>,
  uid: number,
): Promise<void> {
  if (process.getuid?.() === uid) return
  for (const folder of writableFolders(command)) await chown(folder, uid, uid)
}
