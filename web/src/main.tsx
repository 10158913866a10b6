import createCache from '@emotion/cache'
import { CacheProvider } from '@emotion/react'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter, RouterProvider } from 'react-router-dom'
import { App } from './App.tsx'
import { NotLoaded } from './ui/lazily.ts'

// The content security policy allows styles by a nonce, which the server puts into the page.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')!.content
const styles = createCache({ key: 'a', nonce, prepend: true })
const router = createBrowserRouter([{ path: '*', element: <App /> }], { basename: '/admin' })

const root = createRoot(document.getElementById('root')!, {
  onCaughtError: error => {
    if (!(error instanceof NotLoaded)) console.error(error)
  },
})
root.render(
  <CacheProvider value={styles}>
    {/* With transitions the URL is updated late, and changing the page right after a filter would lose the
        filter. */}
    <RouterProvider router={router} useTransitions={false} />
  </CacheProvider>,
)
