// Links of Markdown files into this repository lead to files, and their anchors to headings.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { filesBelow } from './files.mjs'
import { root } from './prepare.mjs'

const own = /^https:\/\/github\.com\/ratatosk-l2\/ratatosk\/(?:blob|tree)\/main\//

const faults = []
for (const path of filesBelow(root, /\.md$/)) {
  for (const { target, line } of linksOf(readFileSync(path, 'utf8'))) {
    const inside = target.replace(own, '/')
    if (/^[a-z][a-z+.-]*:/i.test(inside)) continue
    const [file, anchor] = inside.split('#')
    const to = file === '' ? path : file.startsWith('/') ? join(root, file) : join(dirname(path), file)
    if (!existsSync(to)) faults.push(`${relative(root, path)}:${line}: there is no ${target}`)
    else if (anchor && !hasAnchor(to, anchor)) {
      faults.push(`${relative(root, path)}:${line}: there is no heading for ${target}`)
    }
  }
}
for (const fault of faults) console.error(fault)
process.exit(faults.length > 0 ? 1 : 0)

/** The links of a page with the number of their line, outside code. */
function linksOf(text) {
  const prose = text
    .replace(/^(```+)[^\n]*\n[\s\S]*?^\1$/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/(?<!`)`[^`\n]+`(?!`)/g, '')
  return prose.split('\n').flatMap((line, index) => {
    const found = [...line.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)|^\[[^\]]+\]: (\S+)/g)]
    return found.map(([, inline, reference]) => ({ target: inline ?? reference, line: index + 1 }))
  })
}

/** Whether a page has a heading of this name. */
function hasAnchor(path, anchor) {
  if (statSync(path).isDirectory()) {
    return anchor === 'readme' || hasAnchor(join(path, 'README.md'), anchor)
  }
  const text = readFileSync(path, 'utf8').replace(/^(```+)[^\n]*\n[\s\S]*?^\1$/gm, '')
  const names = new Map()
  for (const [, heading] of text.matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const name = slug(heading)
    names.set(name, (names.get(name) ?? -1) + 1)
    if (`${name}${names.get(name) > 0 ? `-${names.get(name)}` : ''}` === anchor) return true
  }
  return false
}

/** The name that GitHub gives to a heading. */
function slug(heading) {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}
