import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

/**
 * Writes a section between `<!-- name: … -->` and `<!-- /name -->`, or compares it if `checking`. Returns
 * whether it is current.
 * @throws Error if the page has no such section
 */
export function writeSection(path, name, markdown, checking) {
  const text = readFileSync(join(root, path), 'utf8')
  const section = new RegExp(`(<!-- ${name}: .*? -->\n)[\\s\\S]*?(<!-- /${name} -->)`)
  if (!section.test(text)) throw new Error(`${path} has no section ${name}`)
  const written = text.replace(section, (_, open, close) => `${open}\n${markdown.trim()}\n\n${close}`)
  if (unpadded(written) === unpadded(text)) return true
  if (checking) {
    console.error(`${path} is out of date: ${name}. \`npm run generate\` writes it.`)
    return false
  }
  writeFileSync(join(root, path), written)
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const args = [biome, 'format', '--write', path]
  return spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] }).status === 0
}

/** The formatter pads table cells; padding does not count as a difference. */
function unpadded(markdown) {
  return markdown.replace(/ +/g, ' ').replace(/-{2,}/g, '--').replace(/\n\n+/g, '\n\n')
}

/** Writes a source file, formatted, or compares it if `checking`. Returns whether it is current. */
export function writeSource(path, input, checking) {
  const file = join(root, path)
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const formatted = spawnSync(process.execPath, [biome, 'format', `--stdin-file-path=${file}`], {
    cwd: root,
    input,
    encoding: 'utf8',
  })
  if (formatted.status !== 0) throw new Error(formatted.stderr)
  if (existsSync(file) && readFileSync(file, 'utf8') === formatted.stdout) return true
  if (checking) console.error(`${path} is out of date: \`npm run generate\` writes it.`)
  else writeFileSync(file, formatted.stdout)
  return !checking
}
