import { lstatSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { privateFile } from '../common/private-file.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The folders of the user of this process, in which other programs have their configuration. */
export interface UserFolders {
  readonly home: string
  /** XDG_CONFIG_HOME, or ~/.config. */
  readonly config: string
  /** %APPDATA%, or what it usually is. */
  readonly roaming: string
  /** CODEX_HOME, if it is set. */
  readonly codex: string | undefined
  /** CLAUDE_CONFIG_DIR, if it is set. */
  readonly claude: string | undefined
}

export function userFolders(environment: Environment): UserFolders {
  const home = homeIn(environment)
  return {
    home,
    config: environment.XDG_CONFIG_HOME || join(home, '.config'),
    roaming: environment.APPDATA || join(home, 'AppData', 'Roaming'),
    codex: environment.CODEX_HOME || undefined,
    claude: environment.CLAUDE_CONFIG_DIR || undefined,
  }
}

function homeIn(environment: Environment): string {
  return environment.HOME || environment.USERPROFILE || homedir()
}

/** The data folder of an application where the user of this platform expects it (XDG Base Directory on Linux). */
export function platformDataFolder(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): string {
  const home = homeIn(environment)
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'dragoman')
  if (platform === 'win32') {
    return join(environment.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'dragoman')
  }
  return join(environment.XDG_DATA_HOME || join(home, '.local', 'share'), 'dragoman')
}

/**
 * The data folder `./data` of earlier versions, if a gateway of this user has made it: its signing keys are readable to
 * nobody else. A folder that came with other files, such as those of a repository, is not.
 */
export function earlierDataFolder(folder = process.cwd()): string | undefined {
  const data = resolve(folder, 'data')
  if (process.getuid === undefined) return undefined
  try {
    const { mode, uid } = lstatSync(join(data, 'keys', 'signing.json'))
    return (mode & 0o777) === privateFile && uid === process.getuid() ? data : undefined
  } catch {
    return undefined
  }
}
