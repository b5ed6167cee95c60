import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow } from './files.mjs'
import { readLayers } from './packages.mjs'
import { root } from './prepare.mjs'

/** The plugins of the drawing in docs/layout.md. */
const plugins = [...readLayers()].flatMap(([name, layer]) =>
  layer === 'plugins' ? [name.replace('@ratatosk/', '')] : [],
)

/** For the README of each plugin: what it does to a server. */
export function hostSections() {
  return plugins.map((name) => [`packages/${name}/README.md`, 'host', hostText(name)])
}

/** For docs/ports.md: the types that the options of each plugin name; those of several plugins stand once. */
export function portsText() {
  const types = new Map(plugins.map((name) => [name, portTypes(name)]))
  const users = (text) => [...types.values()].filter((own) => own.includes(text)).length
  const common = new Set([...types.values()].flat().filter((text) => users(text) > 1))
  const sections = [...types].map(([name, own]) => [name, own.filter((text) => !common.has(text))])
  return [...sections, ['several', [...common]]]
    .map(([name, own]) => `## ${name}\n\n\`\`\`typescript\n${own.join('\n\n')}\n\`\`\``)
    .join('\n\n')
}

const pages = 'https://github.com/ratatosk-l2/ratatosk'

function hostText(name) {
  const exception =
    name === 'health' ? ', but for the hook of `metrics`, which times the requests of the server' : ''
  return `- **Scope.** Parsers, hooks, serializer and error handler are for its own routes only${exception}.
  It can be registered again under another \`prefix\`. Hooks, logger and 404 of the server hold here, too;
  its compilers of schemas and \`setReplySerializer\` do not.
- **Options.** An unknown or wrong option is a \`TypeError\` at registration.
- **Errors.** The plugin answers \`{ "error": … }\` itself: the hook \`onError\` of the server sees
  every error, \`setErrorHandler\` none. A hook of the server that refuses a request, such as a rate limit,
  chooses status, headers and, below 500, message.
- **Ports.** [Their types](${pages}/blob/main/docs/ports.md#${name}). Where a table above does not
  say how it is answered, a port that throws is a 500 \`Something went wrong\`, with the cause in the log; an
  error with \`statusCode\` and \`expose: true\`, such as an \`HttpError\` of
  [\`@ratatosk/http\`](${pages}/tree/main/packages/http#errors), chooses status and message.
- **OpenAPI.** \`@fastify/swagger\` gets tags, an \`operationId\` and a schema for each status. An id
  that is taken gets the prefix behind it: \`submit\`, \`submit_v2\`; ids of the server's own routes count if
  \`httpErrors\` or \`docs\` of \`@ratatosk/http\` is registered first. A route that requires a token adds it
  as a security scheme. The option \`transform\` is not called for the routes, whose schemas are JSON Schema.`
}

/** The type of a schema stands below it, and is part of its declaration. */
const declaration =
  /^(?:\/\*\*(?:(?!\*\/)[\s\S])*?\*\/\n)?export (interface|(?<!\)\nexport )type|const(?= [A-Z])) (\w+)/gm

/** Where ports have types that are not the plugin's own. */
const shared = ['packages/block/src', 'packages/http/src', 'packages/ports/src']

/** The types that the options of the plugins of a package name, as they are declared. */
function portTypes(name) {
  const own = declarationsBelow(`packages/${name}/src`)
  const known = new Map([...shared.flatMap((each) => [...declarationsBelow(each)]), ...own])
  const options = [...own.values()].filter((text) =>
    /^export interface \w+Options\b.*RegisterOptions/m.test(text),
  )
  const found = new Set()
  const visit = (text) => {
    for (const [word] of codeOf(text).matchAll(/\b[A-Z]\w+/g)) {
      if (found.has(word) || !known.has(word) || options.includes(known.get(word))) continue
      found.add(word)
      visit(known.get(word))
    }
  }
  for (const text of options) visit(text)
  return [...known]
    .filter(([word]) => found.has(word))
    .map(([, text]) => text.replace(/^export /gm, '').replace(/\{@link (\w+)\}/g, '`$1`'))
}

/** Exported interfaces, types and schemas below a folder, by name, with their comments. */
function declarationsBelow(folder) {
  const files = filesBelow(join(root, folder), /(?<!\.test|\.tap)\.ts$/).filter(
    (path) => !/\/test\//.test(path),
  )
  return new Map(
    files.flatMap((path) => {
      const text = readFileSync(path, 'utf8')
      return [...text.matchAll(declaration)].map(({ index, 0: start, 1: kind, 2: name }) => {
        const end = kind === 'interface' ? /^\}$|\{\}$/m : /\n(?=\n|$)/
        const rest = text.slice(index + start.length)
        const { index: length, 0: close } = end.exec(rest) ?? { index: rest.length, 0: '' }
        return [name, `${start}${rest.slice(0, length)}${close}`.trimEnd()]
      })
    }),
  )
}

function codeOf(text) {
  return text.replace(/\/\*\*[\s\S]*?\*\/|'[^'\n]*'|"[^"\n]*"/g, '')
}
