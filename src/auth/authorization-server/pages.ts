/** A page for a browser. */
export interface Page {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** The pages that the protocol itself answers with. */
export interface ProtocolPages {
  /** Asks for the code that a device shows. */
  deviceCode(view: { action: string; xsrf: string; code?: string; notice?: string }): Page
  /** Asks whether the device is the user's own. */
  deviceConfirm(view: { action: string; xsrf: string; code: string; client: string }): Page
  deviceDone(client: string): Page
  /** `link` leads back to the client, where it is known. */
  error(message: string, link?: string): Page
}
