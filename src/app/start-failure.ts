import { Failure } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'
import { type Config, storeLocation } from './config.ts'

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const readOnly = 8
const ioError = 10
const corrupt = 11
const full = 13
const cannotOpen = 14
const notDatabase = 26
/** The shared memory of the write-ahead log could not grow. */
const sharedMemorySize = 4874

const restoreHint =
  'Restore it from a backup (docs/backup.md), or move it away, which begins an empty registry.'
const roomHint = 'Make room on its disk, then start again.'

/**
 * The error of a failed start for the operator: which file, what is wrong, what to do. Failures and errors of other
 * origin are returned unchanged.
 */
export function startFailure(fault: unknown, config: Config): unknown {
  if (!(fault instanceof Error) || fault instanceof Failure) return fault
  const { code, errcode, path, syscall } = fault as NodeJS.ErrnoException & { errcode?: unknown }
  if (code === 'ERR_SQLITE_ERROR') return databaseFailure(fault, Number(errcode), storeLocation(config).path)
  if (typeof path === 'string' && code === 'ENOENT' && syscall === 'mkdir') return noFolder(path, fault)
  if (typeof path === 'string' && code !== undefined) return fileFailure(fault, code, path)
  // A write through an open file does not name it.
  if (isDiskFull(fault)) return diskFull(config.data, fault)
  return fault
}

function databaseFailure(fault: Error, errcode: number, path: string): unknown {
  const primary = errcode & 0xff
  if (primary === full || errcode === sharedMemorySize) return diskFull(path, fault)
  if (primary === notDatabase) {
    return new Failure(
      'internal',
      `${path} is not a database, or its beginning is damaged.`,
      { hint: restoreHint },
      fault,
    )
  }
  if (primary === corrupt) return new Failure('internal', `${path} is damaged.`, { hint: restoreHint }, fault)
  if (primary === readOnly || primary === cannotOpen) return notWritable(path, fault)
  if (primary === ioError) {
    const hint = 'Look into the log of the system for errors of the disk.'
    return new Failure('internal', `${path} cannot be read or written.`, { hint }, fault)
  }
  return fault
}

function fileFailure(fault: Error, code: string, path: string): unknown {
  if (isDiskFull(fault)) return diskFull(path, fault)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return notWritable(path, fault)
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return new Failure(
      'not_configured',
      `${path} cannot be made: a file is where a folder should be.`,
      { hint: 'Set DRAGOMAN_DATA to a folder, or move the file away.' },
      fault,
    )
  }
  if (code === 'EISDIR') {
    const hint = 'Move the folder away.'
    return new Failure('not_configured', `${path} is a folder, and should be a file.`, { hint }, fault)
  }
  return fault
}

/** Whether a file could not be written for lack of room; SQLite has codes of its own for the disk of the store. */
export function isDiskFull(fault: unknown): boolean {
  return isRecord(fault) && (fault.code === 'ENOSPC' || fault.code === 'EDQUOT')
}

/** Some file systems, such as /proc, take no folders. */
function noFolder(path: string, fault: Error): Failure {
  const hint = 'Set DRAGOMAN_DATA to a folder that can be made.'
  return new Failure('not_configured', `The folder ${path} cannot be made.`, { hint }, fault)
}

/** A file could not be written for lack of room. */
export function diskFull(path: string, fault: unknown, hint = roomHint): Failure {
  return new Failure('storage_full', `The disk is full: ${path} cannot be written.`, { hint }, fault)
}

function notWritable(path: string, fault: Error): Failure {
  const user = process.getuid?.()
  const who = user === undefined ? 'the user of the gateway' : `the user of the gateway (uid ${user})`
  return new Failure(
    'not_configured',
    `${path} cannot be written.`,
    {
      hint: `Let ${who} read and write the file and its folder, and mount the disk for writing.`,
    },
    fault,
  )
}
