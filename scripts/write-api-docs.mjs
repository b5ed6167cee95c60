// Builds the API documentation of the published packages into .api-docs. A warning, such as a type that a
// signature names and no package exports, is a fault. The generator has an installation of its own, because
// it needs an older TypeScript than the build.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installTool, prepare, root } from './prepare.mjs'

await prepare()
const { Application } = await import(pathToFileURL(join(await installTool('typedoc'), 'dist/index.js')))
// This imports development dependencies, which a clean clone has only now.
const { entryPoints, publishedPackages } = await import('./tarballs/packages.mjs')

/** Types that a signature names and that users need not name: tables and schemas that derive other types. */
const notExported = {
  '@ratatosk/archivist': ['BlockParams', 'HeightRange'],
  '@ratatosk/chain-apis': ['MetadatumJson', 'PlutusJson'],
  '@ratatosk/explorer': ['BlockId', 'TransactionsPart', 'BlocksPart', 'OutputId'],
  '@ratatosk/faucet': ['faucetStatuses'],
  '@ratatosk/operator': ['operations'],
  '@ratatosk/protocol': ['definitions', 'inputSets'],
  '@ratatosk/tx-query': ['BlockQuery', 'HistoryQuery', 'TransactionQuery', 'AddressQuery'],
  '@ratatosk/submit/status': ['SubmissionStatusQuery', 'TransactionStatusQuery'],
  // Parts of a node, which its plugins reach through `Node`.
  '@ratatosk/node': [
    ...['Manifest', 'Validated', 'NetworkDefaults', 'startErrorCodes', 'LoadedGenesis', 'NodeKeys'],
    ...['Network', 'ClientScripts', 'Settlement', 'RootsCalls'],
  ],
}

/** The source of each entry point, by specifier. */
const sources = new Map()
const packages = await publishedPackages()
for (const subject of packages) {
  for (const specifier of entryPoints(subject)) {
    const { types } = subject.manifest.exports[`.${specifier.slice(subject.name.length)}`]
    const source = types.replace('./dist/', 'src/').replace(/\.d\.ts$/, '.ts')
    sources.set(specifier, join(root, subject.folder, source))
  }
}

const folder = mkdtempSync(join(tmpdir(), 'ratatosk-api-docs-'))
try {
  process.exitCode = (await write(join(root, '.api-docs'))) ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}

/** @returns whether there were no warnings */
async function write(output) {
  const tsconfig = join(folder, 'tsconfig.json')
  writeFileSync(
    tsconfig,
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        composite: false,
        lib: ['ES2023', 'DOM'],
        typeRoots: [join(root, 'node_modules/@types')],
        // One program, so that a link leads from one package to the next.
        paths: Object.fromEntries([...sources].map(([specifier, path]) => [specifier, [path]])),
      },
      files: [...sources.values()],
    }),
  )
  const app = await Application.bootstrap({
    name: 'Ratatosk',
    entryPoints: [...sources.values()],
    tsconfig,
    basePath: root,
    readme: 'none',
    excludePrivate: true,
    // The build has checked the types.
    skipErrorChecking: true,
    validation: { notExported: true, invalidLink: true, notDocumented: false },
  })
  const project = await app.convert()
  if (project === undefined) return false
  const specifiers = new Map([...sources].map(([specifier, path]) => [path, specifier]))
  for (const module of project.children ?? []) {
    const path = join(root, module.sources[0].fileName)
    module.name = specifiers.get(path) ?? module.name
  }
  // The generator judges the types of one package only: that of the project.
  for (const { name } of packages) {
    project.packageName = name
    app.options.setValue('intentionallyNotExported', notExported[name] ?? [])
    app.validate(project)
  }
  await app.generateDocs(project, output)
  return !app.logger.hasErrors() && !app.logger.hasWarnings()
}
