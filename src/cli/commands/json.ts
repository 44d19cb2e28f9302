/** Whether the caller asked for JSON, known once the command line is parsed. */
export type WantsJson = () => boolean
