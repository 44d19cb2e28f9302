/** The public module `dragoman/rest`. */
export { type ClientOptions, createClient, dataOf, type RestClient } from './client.ts'
export { ProblemError } from './problem-error.ts'
export type * from './schema.ts'
