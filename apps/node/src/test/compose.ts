import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

type Environment = Readonly<Record<string, string>>

/** A service of compose.yaml that runs a node. */
export interface NodeService {
  readonly environment: Environment
  readonly stop_grace_period: string
  readonly deploy?: { readonly replicas: number }
}

export const readShipped = (path: string) =>
  readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')

/** Assignments of a file that a pattern finds. */
export function assignments(text: string, pattern: RegExp): Environment {
  return Object.fromEntries([...text.matchAll(pattern)].map(([, name, value]) => [name, value]))
}

/** The settings of .env.example that are not commented out. */
export const exampleSettings = (): Environment => assignments(readShipped('.env.example'), /^(\w+)=(.*)$/gm)

/** The settings that .env.example requires. */
export const passwords: Environment = {
  POSTGRES_PASSWORD: 'one',
  OPERATOR_TOKEN: 'other',
  METRICS_TOKEN: 'another',
  GRAFANA_PASSWORD: 'third',
}

/**
 * The node's services in compose.yaml by name, with variables in place as Compose puts them.
 *
 * @throws if compose.yaml requires a variable that is missing
 */
export function nodeServices(variables: Environment): readonly (readonly [string, NodeService])[] {
  const inPlace = (_: unknown, value: unknown) =>
    typeof value !== 'string'
      ? value
      : value.replace(/\$\{(\w+)(:[-?])([^}]*)\}/g, (whole, name, operator, word) => {
          const found = variables[name] || (operator === ':-' ? word : undefined)
          if (found === undefined) throw new Error(`compose.yaml requires ${whole}`)
          return found
        })
  const { services }: { services: Record<string, NodeService> } = parse(
    readShipped('compose.yaml'),
    inPlace,
    { merge: true },
  )
  return Object.entries(services).filter(([, { environment }]) => environment?.NODE_ROLE)
}
