import { mountsOf, watchedFolders } from './host-files.ts'
import { type Sandbox, type SandboxCommand, startFolder } from './sandbox.ts'
import { spawnSandboxed } from './spawn.ts'

/** Starts commands as processes of the host, with its files, network and user. */
export const unsandboxed: Sandbox = {
  report: {
    kind: 'none',
    version: null,
    problem: null,
    limited: [
      'Environment: of its own, without the settings of the gateway.',
      'Memory of its processes and the size of its HOME: looked at each second; the package is ended above the limit.',
      'Output: by its rate.',
    ],
    not_limited: [
      'Files: it reads and writes all that the user of the gateway may, the data and keys of the gateway included.',
      'Network: it reaches every host that this machine reaches; the hosts of an approval do not count.',
      'Processes: it sees and may signal those of its user. One that leaves its process group outlives it.',
      'Processors, processes, open files and the temporary folder.',
    ],
  },
  async start(command) {
    const words = command.command.map((word) => onHost(word, command))
    const env = Object.entries(command.env).map(([name, value]) => [name, onHost(value, command)])
    return await spawnSandboxed({
      command: words,
      env: Object.fromEntries(env),
      cwd: onHost(startFolder(command), command),
      watch: {
        folders: watchedFolders(command),
        disk_bytes: command.limits.disk_bytes,
        memory_bytes: command.limits.memory_bytes,
      },
      release: async () => {},
    })
  },
}

/** A path in the sandbox as the path on the host; other words unchanged. */
function onHost(word: string, command: SandboxCommand): string {
  const mount = mountsOf(command).find(({ to }) => word === to || word.startsWith(`${to}/`))
  return mount ? mount.from + word.slice(mount.to.length) : word
}
