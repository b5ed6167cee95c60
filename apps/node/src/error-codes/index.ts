import { requestsErrors } from './requests.js'
import { rollupErrors } from './rollup.js'
import { storageErrors } from './storage.js'
import type { ErrorGroup } from './types.js'

/** Every error of a body or a log line, in the order of the documentation. */
const errorGroups: readonly ErrorGroup[] = [...requestsErrors, ...storageErrors, ...rollupErrors]

const page = 'https://github.com/ratatosk-l2/ratatosk/blob/main/docs/errors.md'

/** All codes, and all `PACKAGE_*`. */
const documented: ReadonlySet<string> = new Set(
  errorGroups.flatMap(({ errors }) => errors).flatMap(({ codes }) => codes),
)

/** The entry that explains a code: the code itself or `PACKAGE_*`; undefined if there is none. */
export function entryOf(code: string): string | undefined {
  if (documented.has(code)) return code
  const group = `${code.split('_', 1)[0]}_*`
  return documented.has(group) ? group : undefined
}

/** Where a caught value, or a log line with a code, is explained; undefined if it is not ours. */
export function helpOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('code' in value)) return undefined
  const entry = typeof value.code === 'string' ? entryOf(value.code) : undefined
  return entry && `${page}#${idOf(entry)}`
}

/**
 * Documents all errors as Markdown: a heading and a table for each group.
 *
 * @example
 * errorTables().split('\n')[0] // '## The node and the limits of requests'
 */
export function errorTables(): string {
  return errorGroups
    .map(({ title, errors }) => {
      const rows = errors.map(({ codes, meaning, remedy }) => {
        const names = codes.map((code) => `<a id="${idOf(code)}"></a>\`${code}\``)
        return `| ${names.join('<br>')} | ${meaning} | ${remedy} |`
      })
      return [`## ${title}`, '', '| code | meaning | what to do |', '| --- | --- | --- |', ...rows, ''].join(
        '\n',
      )
    })
    .join('\n')
}

/** The fragment of an entry on the page. */
function idOf(entry: string): string {
  return entry.replace('_*', '')
}
