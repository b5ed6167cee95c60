import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

const folder = join(root, 'docs/decisions')

/** The table of decisions. @throws Error for a file without status, over 400 words, or with a wrong name */
export function decisionsTable() {
  const rows = readdirSync(folder)
    .filter((file) => /^\d{4}-/.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      const [, number, title] = /^# (\d+)\. (.+)$/m.exec(text) ?? []
      const [, status] = /^## Status\n\n([^.;]+)/m.exec(text) ?? []
      if (status === undefined) throw new Error(`docs/decisions/${file} has no title or no status`)
      if (file !== fileOf(number, title))
        throw new Error(`docs/decisions/${file} is not named after its title`)
      if (text.split(/\s+/).length > 400) throw new Error(`docs/decisions/${file} has more than 400 words`)
      return `| ${number} | [${title}](${file}) | ${status} |`
    })
  return ['| number | decision | status |', '| ---: | --- | --- |', ...rows].join('\n')
}

function fileOf(number, title) {
  return `${number.padStart(4, '0')}-${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.md`
}
