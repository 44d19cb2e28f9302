import { existsSync } from 'node:fs'

/** Debian's Chromium, if it is installed. */
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) =>
  existsSync(path),
)
