import { Box } from '@mui/material'

/** The product's logo. */
export function Mark({ size = 28 }: { size?: number }) {
  return (
    <Box
      component="img"
      src={`${import.meta.env.BASE_URL}favicon.svg`}
      alt=""
      sx={{ width: size, height: size, display: 'block' }}
    />
  )
}
