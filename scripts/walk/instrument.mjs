// Copies the built packages of a checkout and makes each function report that it is entered.
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parse } from 'acorn'

/** Writes the copy to `target`, which must exist. */
export function copyInstrumented(checkout, target) {
  for (const part of ['packages', 'apps', 'docs']) {
    cpSync(join(checkout, part), join(target, part), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !/\.(?:ts|map)$|\/apps\/node\/bundle$/.test(path),
    })
  }
  symlinkSync(join(checkout, 'node_modules'), join(target, 'node_modules'))
  for (const part of ['packages', 'apps']) {
    for (const name of readdirSync(join(target, part))) {
      for (const path of scriptsBelow(join(target, part, name, 'dist'))) {
        const text = readFileSync(path, 'utf8')
        writeFileSync(path, instrumented(text, relative(target, path)))
      }
    }
  }
}

function scriptsBelow(folder) {
  try {
    return readdirSync(folder, { recursive: true })
      .filter((name) => name.endsWith('.js'))
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}

/** The text with a call at the start of each function. */
function instrumented(text, file) {
  const insertions = []
  const call = `$enter(${JSON.stringify(file)})`
  visit(parse(text, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }))
  let result = text
  for (const [at, added] of insertions.sort(([a], [b]) => b - a)) {
    result = result.slice(0, at) + added + result.slice(at)
  }
  // A compiled test runs without vitest, and imports scenes of other packages from their sources.
  result = result.replace(/ from 'vitest'/g, ` from '${import.meta.resolve('./run-test.mjs')}'`)
  result = result.replace(/( from '\.\.\/[^']*)\/src\//g, '$1/dist/')
  const [, shebang = '', rest] = /^(#!.*\n)?([\s\S]*)$/.exec(result)
  return (
    `${shebang}import { enter as $enter } from ` +
    `${JSON.stringify(import.meta.resolve('./enter.mjs'))};${rest}`
  )

  function visit(node) {
    if (Array.isArray(node)) {
      for (const each of node) visit(each)
      return
    }
    if (typeof node?.type !== 'string') return
    if (/Function/.test(node.type)) {
      if (node.body.type === 'BlockStatement') insertions.push([node.body.start + 1, `${call};`])
      else insertions.push([node.body.start, `(${call},`], [node.body.end, ')'])
    }
    for (const value of Object.values(node)) if (typeof value === 'object') visit(value)
  }
}
