import { type NotedSchema, settingNotes } from './notes.js'

/**
 * The settings as a Markdown table, written from the schema.
 *
 * @example
 * settingsTable().split('\n')[0] // '| variable | default | meaning |'
 */
export function settingsTable(): string {
  const rows = [...settingNotes].map(([name, notes]) => [
    notes.secret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``,
    defaultOf(notes),
    meaningOf(notes),
  ])
  const lines = [['variable', 'default', 'meaning'], ['---', '---', '---'], ...rows]
  return `${lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function defaultOf(notes: NotedSchema): string {
  if (notes.defaultNote !== undefined) return notes.defaultNote
  return notes.default === undefined ? 'unset' : `\`${notes.default}\``
}

function meaningOf({ description, anyOf }: NotedSchema): string {
  const choices = anyOf === undefined ? '' : `: ${anyOf.map((each) => `\`${each.const}\``).join(', ')}`
  return `${description}${choices}`.replaceAll('|', '\\|')
}
