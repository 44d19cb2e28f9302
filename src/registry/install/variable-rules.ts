import { controlsProcess } from '../../common/variable-names.ts'
import { askPublisher, refuse } from './refuse.ts'

/** Throws Failure `not_installable` for a variable that decides what else runs. */
export function checkVariableName(name: string, pointer: string): void {
  if (!controlsProcess(name)) return
  throw refuse(
    pointer,
    `The environment variable ${shown(name)} decides what else runs on your machine.`,
    askPublisher,
  )
}

const reservedHeader =
  /^(?:host|connection|content-length|content-type|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept|mcp-session-id|mcp-protocol-version|proxy-.*|sec-.*)$/i

/** Throws Failure `not_installable` for a header that is not a name, or that belongs to the transport. */
export function checkHeaderName(name: string, pointer: string): void {
  if (!/^[A-Za-z0-9!#%&*+.^_|~-]{1,200}$/.test(name)) {
    throw refuse(pointer, 'This is not the name of a header.', askPublisher)
  }
  if (reservedHeader.test(name)) {
    throw refuse(pointer, `The header ${name} belongs to the transport.`, askPublisher)
  }
}

function shown(name: string): string {
  return name.slice(0, 60)
}
