import polyglotI18nProvider from 'ra-i18n-polyglot'
import english from 'ra-language-english'
import type { I18nProvider } from 'react-admin'
import { recordPages } from './pages.ts'

const resources = Object.fromEntries(
  recordPages.map(({ resource, name }) => [resource, { name: name.join(' |||| ') }]),
)

const keys = polyglotI18nProvider(
  () => ({ ...english, resources }),
  'en',
  [{ locale: 'en', name: 'English' }],
  { allowMissing: true },
)

/** Only keys are translated. Every other text is shown as it is: names and messages may hold what looks like a key's parts. */
export const i18nProvider: I18nProvider = {
  ...keys,
  translate: (key, options) => (/^(ra|resources)\./.test(key) ? keys.translate(key, options) : key),
}
