/** Bytes of a body after which others have their turn: what is buffered already would be read at once. */
export const turnBytes = 256 * 1024
