import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Failure } from '../../schemas/failure.ts'
import { isRecord } from '../../schemas/json.ts'
import { writePrivateFileOnce } from '../common/private-file.ts'

/** Encrypts secrets, so that the database alone does not reveal them (AES-256-GCM, NIST SP 800-38D). */
export interface Vault {
  /**
   * `binding` names the owner and use of the secret (additional authenticated data). The secret decrypts only with the
   * same binding.
   */
  seal(secret: string, binding: string): string
  /** Undefined if it was sealed with another key or binding, or has been changed. */
  open(sealed: string, binding: string): string | undefined
}

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16
const keyBytes = 32

export function createVault(key: Uint8Array): Vault {
  return {
    seal(secret, binding) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(binding))
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
    },
    open(sealed, binding) {
      const bytes = Buffer.from(sealed, 'base64url')
      const nonce = bytes.subarray(0, nonceBytes)
      const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes)
      try {
        const cipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
        cipher.setAAD(Buffer.from(binding)).setAuthTag(tag)
        const text = bytes.subarray(nonceBytes + tagBytes)
        return Buffer.concat([cipher.update(text), cipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}

/** The key in the file, which is created (mode 600) if there is none; several processes may do so at once. */
export async function readSecretKey(path: string): Promise<Uint8Array> {
  const found = await readKey(path)
  if (found) return found
  await writePrivateFileOnce(path, randomBytes(keyBytes).toString('base64url'))
  const made = await readKey(path)
  if (!made) throw new Error(`${path} cannot be read.`)
  return made
}

async function readKey(path: string): Promise<Uint8Array | undefined> {
  const text = await readFile(path, 'utf8').catch((fault) => {
    if (isRecord(fault) && fault.code === 'ENOENT') return undefined
    throw fault
  })
  if (text === undefined) return undefined
  const key = Buffer.from(text.trim(), 'base64url')
  if (key.length === keyBytes) return key
  throw new Failure('internal', `${path} does not hold a key of ${keyBytes} bytes.`, {
    hint: 'Restore keys/ from a backup. With a new key, callers must store their credentials again.',
  })
}
