import type { NotedSchema } from './kinds.js'
import { settingGroups } from './schema.js'

/**
 * Documents all settings as Markdown: a heading and a table for each group.
 *
 * @example
 * settingsTables().split('\n')[0] // '## Role and network'
 */
export function settingsTables(): string {
  return Object.entries(settingGroups)
    .map(([title, settings]) => `## ${title}\n\n${tableOf(settings as Record<string, NotedSchema>)}`)
    .join('\n')
}

function tableOf(settings: Record<string, NotedSchema>): string {
  const rows = Object.entries(settings).map(([name, notes]) => [
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
