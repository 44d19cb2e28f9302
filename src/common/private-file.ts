import { closeSync, existsSync, openSync } from 'node:fs'

/** Mode of files with data: only their owner reads and writes them. */
export const privateFile = 0o600
/** Mode of folders with data. */
export const privateFolder = 0o700

/** Creates an empty file with mode 600 if there is none: SQLite would create it with the mode of the umask. */
export function ensurePrivateFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', privateFile))
}
