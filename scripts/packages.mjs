import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './prepare.mjs'

/** Each package's layer, from docs/layout.md, where three spaces part layer, packages and comment. */
export function readLayers() {
  const [, drawing] = readFileSync(join(root, 'docs/layout.md'), 'utf8').match(/^```\n([\s\S]*?)^```$/m)
  let layer
  return new Map(
    drawing.split('\n').flatMap((line) => {
      const [start, names = ''] = line.split(/\s{3,}/)
      layer = start || layer
      return names.split(/\s+/).map((name) => [`@ratatosk/${name}`, layer])
    }),
  )
}

/** The table of packages from their manifests, in the order of the drawing, without plugins. */
export function packagesTable() {
  const rows = [...readLayers()].flatMap(([name, layer]) => {
    const folder = ['packages', 'apps']
      .map((parent) => `${parent}/${name.replace('@ratatosk/', '')}`)
      .find((each) => existsSync(join(root, each, 'package.json')))
    if (folder === undefined || layer === 'plugins') return []
    const { description } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    return [`| [\`${folder.replace(/.*\//, '')}\`](../${folder}) | ${description} |`]
  })
  return ['| package | what |', '| --- | --- |', ...rows].join('\n')
}
