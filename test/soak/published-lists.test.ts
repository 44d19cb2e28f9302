import { publishedLists } from '../support/published-lists.ts'

publishedLists(Number.POSITIVE_INFINITY, [4540, 128])
